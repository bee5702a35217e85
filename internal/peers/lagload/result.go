package lagload

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"
)

// Limits are how many times the truth a part of lag may read, and how many times
// less.
type Limits struct {
	Reader   string
	P50, P99 float64
}

// Promised are the limits that package lag is held to.
var Promised = []Limits{{"lag queue", 3, 2}, {"lag total", 4, 3}}

// A Verdict is one limit under one load.
type Verdict struct {
	Load     string
	Limits   Limits
	P50, P99 float64 // times the truth; NaN if one of the two has no values
	OK       bool
	Waited   float64 // the run's
}

// tooMuch is the share of the time without a processor from which on a run says
// nothing. On a quiet machine it is up to a fifth, most of it the clients'. A
// process that others hold up as a whole is late before its run queue, whatever
// that is like, and which byte meets that is luck.
const tooMuch = 0.4

// Inconclusive says that a limit was not kept and that other processes may be to
// blame.
func (v Verdict) Inconclusive() bool { return !v.OK && v.Waited > tooMuch }

// String is the verdict's line.
func (v Verdict) String() string {
	word := "ok"
	switch {
	case v.Inconclusive():
		word = fmt.Sprintf("INCONCLUSIVE, others had the processors for %.0f %% of the time", 100*v.Waited)
	case !v.OK:
		word = "FAILED"
	}
	return fmt.Sprintf("%s, %s: %.2f times tcp at p50 (limit %g), %.2f at p99 (limit %g): %s",
		v.Load, v.Limits.Reader, v.P50, v.Limits.P50, v.P99, v.Limits.P99, word)
}

// Judge holds a run to limits; the idle one is not judged.
func (r Run) Judge(limits []Limits) []Verdict {
	if !r.Judged {
		return nil
	}
	var all []Verdict
	truth := r.series("tcp")
	for _, l := range limits {
		s := r.series(l.Reader)
		v := Verdict{Load: r.Load, Limits: l, P50: ratio(s.P50, truth.P50), P99: ratio(s.P99, truth.P99), Waited: r.Waited}
		v.OK = s.N > 0 && truth.N > 0 && within(v.P50, l.P50) && within(v.P99, l.P99)
		all = append(all, v)
	}
	return all
}

// within says that a ratio is between 1/limit and limit. A ratio that is no
// number is not.
func within(ratio, limit float64) bool { return ratio <= limit && ratio >= 1/limit }

func ratio(a, b int64) float64 { return float64(a) / float64(b) }

// series is what a reader read, or none if it did not.
func (r Run) series(reader string) Series {
	if i := slices.IndexFunc(r.Series, func(s Series) bool { return s.Reader == reader }); i >= 0 {
		return r.Series[i]
	}
	return Series{}
}

// WriteRuns prints a table for each load, then how noisy the machine was and the
// verdicts, and returns how many limits were not kept, inconclusive ones included.
func WriteRuns(w io.Writer, runs []Run, limits []Limits) (failed int, err error) {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, r := range runs {
		fmt.Fprintf(out, "%s\tn\tp50 ms\tp99 ms\tmax ms\tp50 x tcp\tp99 x tcp\t\n", r.Load)
		truth := r.series("tcp")
		for _, s := range r.Series {
			fmt.Fprintf(out, "%s\t%d\t", s.Reader, s.N)
			if s.N == 0 {
				fmt.Fprint(out, "-\t-\t-\t-\t-\t\n")
				continue
			}
			fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\t\n", millis(s.P50), millis(s.P99), millis(s.Max),
				times(s.P50, truth.P50), times(s.P99, truth.P99))
		}
		fmt.Fprintln(out)
	}
	if err := out.Flush(); err != nil {
		return 0, err
	}
	for _, r := range runs {
		if _, err := fmt.Fprintf(w, "%s: others had the processors for %.0f %% of the time that the process wanted them\n", r.Load, 100*r.Waited); err != nil {
			return 0, err
		}
	}
	for _, r := range runs {
		for _, v := range r.Judge(limits) {
			if !v.OK {
				failed++
			}
			if _, err := fmt.Fprintln(w, v); err != nil {
				return failed, err
			}
		}
	}
	return failed, nil
}

// millis is three digits of milliseconds.
func millis(ns int64) string { return digits(float64(ns) / 1e6) }

// times is how many times b a is, or "-" if that says nothing.
func times(a, b int64) string {
	if b <= 0 {
		return "-"
	}
	return digits(ratio(a, b))
}

// digits is v to two digits behind the point, and whole from a hundred on; what
// would be 0.00 but is not has its digits.
func digits(v float64) string {
	switch {
	case v >= 100 || v <= -100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v != 0 && v < 0.1 && v > -0.1:
		return strconv.FormatFloat(v, 'g', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}
