package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidestaff/tidestaff/probe"
)

// WriteBenchmarks writes the numbers that a benchmark would report as lines of a
// Go benchmark, which benchstat and its like read: a line for each part and each
// combination of attributes, once for every run that counts, so that repeats are
// samples.
//
//	Unit queries/op better=lower assume=exact
//	BenchmarkAfter/server/name=list 1 8 queries/op 1250000 p50-latency-ns
//
// A number per operation is left out where the report does not say for how many
// operations. Neither the host nor the conditions are written: lines of the form
// "key: value" that differ would keep benchstat from comparing the files.
func (r *Report) WriteBenchmarks(w io.Writer) error {
	runs := r.counted()
	units, lines := benchLines(r.Name, align(runs), len(runs))
	var b strings.Builder
	for _, u := range units {
		b.WriteString(u)
	}
	for run := range runs {
		for _, l := range lines {
			b.WriteString(l.text(run))
		}
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("report: write benchmarks: %w", err)
	}
	return nil
}

// A benchLine is one benchmark with its values in each run.
type benchLine struct {
	name   string
	values []string // for each run " 8 queries/op", one after the other
	ops    []int64
}

// text is the line of a run, "" if that run has no values.
func (l *benchLine) text(run int) string {
	if l.values[run] == "" {
		return ""
	}
	return fmt.Sprintf("%s %d%s\n", l.name, max(1, l.ops[run]), l.values[run])
}

// benchLines collects the values of the tracks by benchmark, and the lines about
// their units.
func benchLines(name string, tracks []*track, runs int) (units []string, lines []*benchLine) {
	index, taken := map[string]*benchLine{}, map[string]bool{}
	for _, t := range tracks {
		for k, b := range t.desc.Bench {
			if t.desc.Detail {
				break
			}
			key := benchName(name, t.part, t.attrs)
			l := index[key]
			if l == nil {
				l = &benchLine{key, make([]string, runs), make([]int64, runs)}
				index[key] = l
				lines = append(lines, l)
			}
			// Two probes may report one unit; a line must not have it twice.
			unit := key + " " + b.Unit
			if taken[unit] {
				continue
			}
			if l.add(t, &t.desc.Bench[k]) {
				taken[unit] = true
				if u := unitLine(&b); u != "" && !slices.Contains(units, u) {
					units = append(units, u)
				}
			}
		}
	}
	slices.Sort(units)
	return units, lines
}

// add appends one number of each run, and tells whether there was any.
func (l *benchLine) add(t *track, b *probe.Bench) (any bool) {
	for run, cell := range t.cells(b.Stat) {
		if cell == nil {
			continue
		}
		v, ops := cell.vals[0], t.of[run].Operations
		if cell.unit == "s" {
			v *= 1e9
		}
		if b.PerOp {
			v /= float64(ops) // none: infinite, and left out
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		l.ops[run] = ops
		v = math.Round(v*1000) / 1000 // 1e9 times a share of a second leaves crumbs
		l.values[run] += " " + strconv.FormatFloat(v, 'f', -1, 64) + " " + b.Unit
		any = true
	}
	return any
}

// unitLine tells benchstat what it cannot know of a unit.
func unitLine(b *probe.Bench) string {
	s := "Unit " + b.Unit
	if b.Better != "" {
		s += " better=" + b.Better
	}
	if b.Exact {
		s += " assume=exact"
	}
	return s + "\n"
}

// benchName makes a benchmark's name, which has no white space, begins with an
// upper-case letter and has its sub-benchmarks behind slashes.
func benchName(name, part string, attrs []probe.Attr) string {
	first, n := utf8.DecodeRuneInString(cmp.Or(name, "report"))
	words := []string{"Benchmark" + benchWord(string(unicode.ToUpper(first))+cmp.Or(name, "report")[n:])}
	if part != "" {
		for word := range strings.SplitSeq(part, "/") {
			words = append(words, benchWord(word))
		}
	}
	for _, a := range attrs {
		words = append(words, benchWord(heading(a.Key))+"="+benchWord(a.Value))
	}
	return strings.Join(words, "/")
}

// benchWord leaves nothing in a word that would end it, or that benchstat would
// take for the next element of the name.
func benchWord(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r) || unicode.IsControl(r) || r == '/' || r == unicode.ReplacementChar:
			return '_'
		case r == '-':
			return '_' // "-2" at the end would be GOMAXPROCS
		}
		return r
	}, s)
}
