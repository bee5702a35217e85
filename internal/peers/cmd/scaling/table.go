package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/tidestaff/tidestaff/internal/growth"
)

// What is promised of at least 500 trials.
const (
	mostAlarms   = 0.01
	leastAlarmed = 0.99
)

// A result is what the checks of a case said.
type result struct {
	study    growing
	verdicts [growth.Unclear + 1]int
	flagged  int // single runs whose ratio was over 5
	shares   []float64
	rounds   int
	took     time.Duration
	why      string // of the last check that judged nothing
}

// add adds a check, and the ratio of two single runs.
func (r *result) add(got growth.Result, took time.Duration, ratio float64) {
	r.verdicts[got.Verdict]++
	if ratio > 5 {
		r.flagged++
	}
	if got.Why != "" {
		r.why = got.Why
	}
	r.shares = append(r.shares, got.Share)
	r.rounds += got.Rounds
	r.took += took
}

func (r *result) trials() int { return len(r.shares) }

func (r *result) alarms() int { return r.verdicts[growth.Exceeds] }

const explanation = `# Sizes %v, at most %v. An alarm is a verdict that it grows faster; its share in all checks
# is given with Wilson's interval of 95 %%. "share" is what the checks measured of the time at the largest size that
# goes with %v: the 5th, 50th and 95th percentile. The last column is what a ratio over 5 of two single runs, of
# wall time at %d and at a quarter of it, would have flagged.

`

// write writes a line for each case.
func write(w io.Writer, results []*result) {
	fmt.Fprintf(w, explanation, sizes, growth.NLogN, growth.NLogN.Excess(), largest)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "case\tbeside it\tchecks\texceeds\twithin\tunclear\tnot judged\talarms\tshare\trounds\ta check takes\tratio > 5\t")
	for _, r := range results {
		n := r.trials()
		if n == 0 {
			continue
		}
		low, high := wilson(r.alarms(), n)
		beside := "–"
		if r.study.hogs {
			beside = fmt.Sprintf("%d hogs", hogs)
		}
		slices.Sort(r.shares)
		share := func(at int) float64 { return 100 * r.shares[at] }
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%d\t%d\t%d\t%.1f–%.1f %%\t%.0f / %.0f / %.0f %%\t%.1f\t%v\t%.1f %%\t\n", r.study.name, beside, n,
			r.alarms(), r.verdicts[growth.Within], r.verdicts[growth.Unclear], r.verdicts[growth.Unjudged],
			100*low, 100*high, share(n/20), share(n/2), share(n-1-n/20), float64(r.rounds)/float64(n),
			(r.took / time.Duration(n)).Round(time.Millisecond), 100*float64(r.flagged)/float64(n))
	}
	_ = t.Flush() // into a buffer
	for _, r := range results {
		if r.why != "" {
			fmt.Fprintf(w, "%s: not judged: %s\n", r.study.name, r.why)
		}
	}
}

// wilson is the 95 % interval of a share of which k in n were seen.
func wilson(k, n int) (low, high float64) {
	const z = 1.96
	p, m := float64(k)/float64(n), float64(n)
	centre := p + z*z/(2*m)
	half := z * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return max(0, (centre-half)/(1+z*z/m)), min(1, (centre+half)/(1+z*z/m))
}

// kept is nil if no case has more false alarms or fewer detections than promised.
func kept(results []*result) error {
	var errs []error
	for _, r := range results {
		share := float64(r.alarms()) / float64(r.trials())
		switch {
		case !r.study.grows && share > mostAlarms:
			errs = append(errs, fmt.Errorf("%s: %d false alarms in %d checks", r.study.name, r.alarms(), r.trials()))
		case r.study.grows && share < leastAlarmed:
			errs = append(errs, fmt.Errorf("%s: %d of %d checks found it", r.study.name, r.alarms(), r.trials()))
		}
	}
	return errors.Join(errs...)
}
