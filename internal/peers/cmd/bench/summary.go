package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// A row is one benchmark, measured several times.
type row struct {
	group  string // "Record"
	name   string // "to=otel/cores=all"
	procs  int    // GOMAXPROCS
	ns     []float64
	cpu    []float64 // CPU time in ns, where the benchmark has it
	allocs float64   // the median: a short look may have those of its warming up
}

// parse reads the result lines of a benchmark run. Everything else is passed
// over.
func parse(text []byte) ([]*row, error) {
	var rows []*row
	allocs := map[*row][]float64{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		r := nameOf(fields[0])
		if i := slices.IndexFunc(rows, func(o *row) bool { return o.group == r.group && o.name == r.name && o.procs == r.procs }); i >= 0 {
			r = rows[i]
		} else {
			rows = append(rows, r)
		}
		for i := 2; i+1 < len(fields); i += 2 {
			v, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				return nil, fmt.Errorf("benchmark line %q: %w", lines.Text(), err)
			}
			switch fields[i+1] {
			case "ns/op":
				r.ns = append(r.ns, v)
			case "cpu-ns/op":
				r.cpu = append(r.cpu, v)
			case "allocs/op":
				allocs[r] = append(allocs[r], v)
			}
		}
	}
	for r, all := range allocs {
		r.allocs = median(all)
	}
	rows = slices.DeleteFunc(rows, func(r *row) bool { return len(r.ns) == 0 })
	if len(rows) == 0 {
		return nil, errors.New("no benchmark lines")
	}
	return rows, lines.Err()
}

// nameOf takes "BenchmarkRecord/to=otel/cores=all-2" apart. Go leaves the number
// of processors out if it is one.
func nameOf(full string) *row {
	r := &row{procs: 1}
	full = strings.TrimPrefix(full, "Benchmark")
	if i := strings.LastIndexByte(full, '-'); i >= 0 {
		if n, err := strconv.Atoi(full[i+1:]); err == nil {
			full, r.procs = full[:i], n
		}
	}
	r.group, r.name, _ = strings.Cut(full, "/")
	return r
}

// cost is the median in nanoseconds of a core: where all cores work at once, the
// wall time per operation times their number.
func (r *row) cost() float64 { return r.perCore(median(r.ns)) }

func (r *row) perCore(ns float64) float64 {
	if strings.Contains(r.name, "cores=all") {
		return ns * float64(r.procs)
	}
	return ns
}

// comparable reports whether a ratio of the two means something: the same group
// and the same cores.
func (r *row) comparable(o *row) bool {
	return r.group == o.group && r.procs == o.procs &&
		strings.Contains(r.name, "cores=all") == strings.Contains(o.name, "cores=all")
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	n := len(v)
	return (v[(n-1)/2] + v[n/2]) / 2
}

// summarize prints the conditions of a run, its times and their ratios.
func summarize(w io.Writer, text []byte) error {
	rows, err := parse(text)
	if err != nil {
		return err
	}
	cpu := false // each pass says it again
	for line := range strings.Lines(string(text)) {
		model := strings.HasPrefix(line, "cpu: ")
		if strings.HasPrefix(line, "# ") || model && !cpu {
			fmt.Fprint(w, line)
		}
		cpu = cpu || model
	}
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	switch {
	case slices.ContainsFunc(rows, isBare):
		overheads(out, rows)
	case slices.ContainsFunc(rows, isKernel):
		besides(out, rows)
	default:
		ratios(out, rows)
	}
	return out.Flush()
}

// ratios are those to the first benchmark of the group, and to tidestaff's own
// where there is one.
func ratios(out io.Writer, rows []*row) {
	group := ""
	for _, r := range rows {
		if r.group != group {
			group = r.group
			fmt.Fprintf(out, "\n%s\tns of a core\tmin\tmax\tx first\tx tidestaff\tallocs/op\t\n", group)
		}
		first := slices.IndexFunc(rows, r.comparable)
		own := slices.IndexFunc(rows, func(o *row) bool { return r.comparable(o) && strings.HasPrefix(o.name, "to=tidestaff/") })
		ratio := ""
		if own >= 0 {
			ratio = number(r.cost() / rows[own].cost())
		}
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\t%s\t%g\t\n", r.name, number(r.cost()),
			number(r.perCore(slices.Min(r.ns))), number(r.perCore(slices.Max(r.ns))),
			number(r.cost()/rows[first].cost()), ratio, r.allocs)
	}
}

// number is v to three digits, and whole from a hundred on.
func number(v float64) string {
	if v >= 100 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
