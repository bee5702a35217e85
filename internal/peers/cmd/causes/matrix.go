package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/tidestaff/tidestaff/lag"
	"github.com/tidestaff/tidestaff/probe"
)

const (
	// none is where an injection stands that did not stall the process.
	none = "no stall"
	// noHolder is added to a right cause without the operation that held the loop.
	noHolder = ", holder not in flight"
	// clean is the share of right first causes at least, in every family: the kinds of
	// stalls differ in what the kernel and the runtime count.
	clean = 0.95
)

// An outcome is one injection.
type outcome struct {
	family, want, holder string
	length               time.Duration // that was asked for
	stall                lag.Stall
}

// first is the first cause that was named. One that is right but for the operation
// that held the loop, which is not in flight, is another cause.
func (o outcome) first() string {
	switch {
	case len(o.stall.Causes) == 0:
		return none
	case string(o.stall.Causes[0].Cause) == o.want && !o.held():
		return o.want + noHolder
	}
	return string(o.stall.Causes[0].Cause)
}

// held tells whether the holder, if there has to be one, is in flight.
func (o outcome) held() bool {
	return o.holder == "" || slices.ContainsFunc(o.stall.Overlaps, func(l probe.Overlap) bool { return l.Name == o.holder })
}

// firstButHost is the first cause that is not other processes on the host.
func (o outcome) firstButHost() string {
	for _, c := range o.stall.Causes {
		if c.Cause != lag.CauseHost || o.want == string(lag.CauseHost) {
			o.stall.Causes = []lag.RankedCause{c}
			return o.first()
		}
	}
	return none
}

func (o outcome) write(w io.Writer) {
	mark, text := "right", o.stall.Text
	switch o.first() {
	case o.want:
	case none:
		mark, text = "none ", none
	default:
		mark = "WRONG"
	}
	fmt.Fprintf(w, "%s  %-11s %4d ms  %s\n", mark, o.family, o.length.Milliseconds(), text)
}

// results are all injections, and why a family has none.
type results struct {
	outcomes []outcome
	lacks    map[string]string
}

// write writes the matrix and then every injection.
func (s results) write(w io.Writer) {
	s.matrix(w)
	fmt.Fprintln(w)
	for _, o := range s.outcomes {
		o.write(w)
	}
}

// A row is one family's outcomes.
type row struct {
	family, want          string
	stalls, right, butFor int            // of the injections that stalled the process
	none                  int            // that did not
	counts                map[string]int // by the cause that was named first
}

// rows has them in the order of the injections, and the causes that are columns.
func (s results) rows() (rows []*row, heads []string) {
	columns := map[string]bool{}
	for _, o := range s.outcomes {
		i := slices.IndexFunc(rows, func(r *row) bool { return r.family == o.family })
		if i < 0 {
			i = len(rows)
			rows = append(rows, &row{family: o.family, want: o.want, counts: map[string]int{}})
		}
		rows[i].add(o)
		columns[o.want] = true
		if o.first() != none {
			columns[o.first()] = true
		}
	}
	return rows, slices.Sorted(maps.Keys(columns))
}

func (r *row) add(o outcome) {
	if o.first() == none {
		r.none++
		return
	}
	r.stalls++
	r.counts[o.first()]++
	if o.first() == o.want {
		r.right++
	}
	if o.firstButHost() == o.want {
		r.butFor++
	}
}

// judge is an error that names the families of which too few first causes were right,
// those of which none was a stall among them.
func (s results) judge() error {
	var failed []string
	rows, _ := s.rows()
	for _, r := range rows {
		if float64(r.right) < clean*float64(max(r.stalls, 1)) {
			failed = append(failed, fmt.Sprintf("%s %d of %d", r.family, r.right, r.stalls))
		}
	}
	if failed == nil {
		return nil
	}
	return fmt.Errorf("right first causes, want at least %.0f %%: %s", 100*clean, strings.Join(failed, ", "))
}

// matrix has a row for each family and a column for each cause that was named
// first. At the end are the injections that stalled nothing and the share of the
// others that were right: of all, and if other processes on the host, which are a
// cause on a busy machine, are not counted.
func (s results) matrix(w io.Writer) {
	rows, heads := s.rows()
	for i, h := range heads {
		fmt.Fprintf(w, "%c = %s\n", 'A'+i, h)
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(tw, "\ninjected\t")
	for i := range heads {
		fmt.Fprintf(tw, "%c\t", 'A'+i)
	}
	fmt.Fprintf(tw, "%s\tright\tbut for the host\t\n", none)
	for _, r := range rows {
		fmt.Fprintf(tw, "%s\t", r.family)
		for _, h := range heads {
			cell := cell(r.counts[h])
			if h == r.want {
				cell = "[" + cell + "]"
			}
			fmt.Fprintf(tw, "%s\t", cell)
		}
		share := func(n int) float64 { return 100 * float64(n) / float64(max(r.stalls, 1)) }
		fmt.Fprintf(tw, "%s\t%.0f %%\t%.0f %%\t\n", cell(r.none), share(r.right), share(r.butFor))
	}
	_ = tw.Flush() // to w, whose errors are the caller's
	for _, f := range slices.Sorted(maps.Keys(s.lacks)) {
		fmt.Fprintf(w, "%s was not injected: %s\n", f, strings.TrimSpace(s.lacks[f]))
	}
}

// cell is a number of injections, which stand out where there are some.
func cell(n int) string {
	if n == 0 {
		return "·"
	}
	return strconv.Itoa(n)
}
