package spikes

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// A Result is what each way saw of each spike.
type Result struct {
	Ways   []string
	Spikes []Measured
	// Whole is the peak of the window over all spikes, Highest that of the
	// highest tile beside it.
	Whole, Highest int64
	// Complaints are the labels that were not as they should be; none if all is
	// well.
	Complaints []string
}

// A Measured is one spike.
type Measured struct {
	Size int           // bytes
	Hold time.Duration // between the rise and the fall
	Took time.Duration // all three of them
	Base int64         // the resident set before it
	Seen []Seen        // by way
}

// A Seen is what one way saw.
type Seen struct {
	Peak int64 // the tile's
	Prov probe.Provenance
}

// under is the share of the spike that was missed, 0 to 1.
func (m *Measured) under(way int) float64 {
	missed := float64(m.Base+int64(m.Size)-m.Seen[way].Peak) / float64(m.Size)
	return min(max(missed, 0), 1)
}

// lost says that less than half of the spike was seen.
func (m *Measured) lost(way int) bool { return m.under(way) > 0.5 }

// Write prints the tables, and then each spike.
func (r *Result) Write(w io.Writer) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	r.writeWays(out)
	r.writeLengths(out)
	if err := out.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nwindow over all spikes: peak %.1f MiB, highest tile %.1f MiB\n", mebi(r.Whole), mebi(r.Highest))
	for _, c := range r.Complaints {
		fmt.Fprintln(w, "wrong label:", c)
	}
	fmt.Fprintf(w, "labels as expected: %d of %d\n", len(r.Spikes)*len(r.Ways)-len(r.Complaints), len(r.Spikes)*len(r.Ways))
	r.writeSpikes(out)
	return out.Flush()
}

// writeWays has a line for each way.
func (r *Result) writeWays(out io.Writer) {
	fmt.Fprint(out, "peak by\tspikes\tunder-read p50\tp90\tmax\tlost\tlabelled\tsamples p50\tlongest gap p50\tmax\t\n")
	for way, name := range r.Ways {
		var under []float64
		var samples []uint64
		var gaps []time.Duration
		how, lost := map[probe.How]int{}, 0
		for i := range r.Spikes {
			m := &r.Spikes[i]
			under = append(under, m.under(way))
			p := m.Seen[way].Prov
			samples, gaps = append(samples, p.Samples), append(gaps, p.MaxGap)
			how[p.How]++
			if m.lost(way) {
				lost++
			}
		}
		fmt.Fprintf(out, "%s\t%d\t%s\t%s\t%s\t%d\t%s\t", name, len(r.Spikes),
			percent(quantile(under, 0.5)), percent(quantile(under, 0.9)), percent(quantile(under, 1)), lost, labels(how))
		if how[probe.Sampled] > 0 {
			fmt.Fprintf(out, "%d\t%.0f ms\t%.0f ms\t\n", quantile(samples, 0.5), milli(quantile(gaps, 0.5)), milli(quantile(gaps, 1)))
		} else {
			fmt.Fprint(out, "\t\t\t\n")
		}
	}
}

// labels says how often each label was given.
func labels(how map[probe.How]int) string {
	var given []string
	for _, h := range []probe.How{probe.Exact, probe.Sampled, probe.AtMost} {
		if how[h] > 0 {
			given = append(given, fmt.Sprintf("%d %s", how[h], h))
		}
	}
	return strings.Join(given, ", ")
}

// bounds are the ends of the classes of lengths.
var bounds = []time.Duration{20 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, time.Hour}

// writeLengths has a line for each way and a column for each class of lengths:
// how many of the spikes were lost.
func (r *Result) writeLengths(out io.Writer) {
	fmt.Fprint(out, "\nlost, of spikes held\t< 20 ms\t20–100 ms\t100–200 ms\t> 200 ms\t\n")
	for way, name := range r.Ways {
		fmt.Fprintf(out, "%s\t", name)
		from := time.Duration(0)
		for _, to := range bounds {
			all, lost := 0, 0
			for i := range r.Spikes {
				m := &r.Spikes[i]
				if m.Hold < from || m.Hold >= to {
					continue
				}
				all++
				if m.lost(way) {
					lost++
				}
			}
			fmt.Fprintf(out, "%d of %d\t", lost, all)
			from = to
		}
		fmt.Fprint(out, "\n")
	}
}

// writeSpikes has a line for each spike: what each way saw of it, in MiB.
func (r *Result) writeSpikes(out io.Writer) {
	fmt.Fprint(out, "\nspike\tMiB\theld ms\ttook ms\t")
	for _, name := range r.Ways {
		fmt.Fprintf(out, "%s\t", name)
	}
	fmt.Fprintln(out)
	for i := range r.Spikes {
		m := &r.Spikes[i]
		fmt.Fprintf(out, "%d\t%.1f\t%.0f\t%.0f\t", i+1, mebi(int64(m.Size)), milli(m.Hold), milli(m.Took))
		for _, s := range m.Seen {
			fmt.Fprintf(out, "%.1f\t", mebi(max(s.Peak-m.Base, 0)))
		}
		fmt.Fprintln(out)
	}
}

func mebi(n int64) float64          { return float64(n) / mib }
func milli(d time.Duration) float64 { return float64(d) / 1e6 }
func percent(share float64) string  { return fmt.Sprintf("%.1f %%", 100*share) }

// quantile is the smallest value that a share q of all do not exceed.
func quantile[T cmp.Ordered](all []T, q float64) T {
	all = slices.Sorted(slices.Values(all))
	i := int(q*float64(len(all))+0.999999) - 1
	return all[min(max(i, 0), len(all)-1)]
}
