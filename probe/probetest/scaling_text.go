package probetest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tidestaff/tidestaff/internal/growth"
)

// flagged is the ratio of two times, over the one of their sizes, from which on
// people take an operation for super-linear: 5 for a quarter of the size.
const flagged = 5.0 / 4

// An outcome is what a check of scaling has found.
type outcome struct {
	bound  Growth
	cpu    growth.Result
	counts []counted
	trials []*trial // of the counts
}

// fails reports whether the test fails.
func (o *outcome) fails(strict bool) bool {
	return o.outgrown() || o.cpu.Verdict == growth.Exceeds || strict && o.cpu.Verdict != growth.Within
}

// outgrown reports whether a count breaks its bound, or was not measured.
func (o *outcome) outgrown() bool {
	return slices.ContainsFunc(o.counts, func(c counted) bool { return c.wrong != "" })
}

// text is everything that was found, what is wrong first.
func (o *outcome) text() string {
	var b strings.Builder
	for _, c := range o.counts {
		if c.wrong != "" {
			b.WriteString(c.wrong + "\n")
		}
	}
	b.WriteString(o.verdict() + "\n")
	if o.cpu.Dropped != "" && o.cpu.Dropped != o.cpu.Why {
		fmt.Fprintf(&b, "  %s\n", o.cpu.Dropped)
	}
	o.writeTable(&b)
	o.writeNotes(&b)
	o.writeStatements(&b)
	return strings.TrimRight(b.String(), "\n")
}

// verdict is the sentence about the CPU time.
func (o *outcome) verdict() string {
	r, order := &o.cpu, growth.Order(o.bound)
	if r.Verdict == growth.Unjudged {
		return "CPU time was not judged: " + r.Why
	}
	share := fmt.Sprintf("%s of the time at n=%s goes with %s (99 %% interval %.0f–%s)",
		percent(r.Share), number(float64(r.Sizes[len(r.Sizes)-1])), order.Excess(), 100*r.Low, percent(r.High))
	switch r.Verdict {
	case growth.Exceeds:
		return "CPU time grows faster than " + order.String() + ": " + share
	case growth.Within:
		return "CPU time grows no faster than " + order.String() + ": " + share
	}
	return "CPU time was not judged: whether it grows faster than " + order.String() + " is not clear: " + share
}

// writeTable writes what was measured, by size.
func (o *outcome) writeTable(b *strings.Builder) {
	r := &o.cpu
	if len(r.Times) == 0 && len(o.counts) == 0 {
		return
	}
	head := []string{"n"}
	if len(r.Times) > 0 {
		head = append(head, "CPU time", "per item")
	}
	rows := [][]string{head}
	for i, n := range r.Sizes {
		row := []string{number(float64(n))}
		if len(r.Times) > 0 {
			row = append(row, nanoseconds(r.Times[i]), nanoseconds(r.Times[i]/float64(n)))
		}
		rows = append(rows, row)
	}
	for _, c := range o.counts {
		if len(c.values) == 0 {
			continue
		}
		rows[0] = append(rows[0], c.unit)
		for i, v := range c.values {
			rows[1+i] = append(rows[1+i], number(v))
		}
	}
	for _, line := range rightAligned(rows) {
		b.WriteString("  " + line + "\n")
	}
}

// writeNotes writes what helps to judge the verdict.
func (o *outcome) writeNotes(b *strings.Builder) {
	r := &o.cpu
	if len(r.Times) == 0 {
		return
	}
	last := number(float64(r.Sizes[len(r.Sizes)-1]))
	if o.bound != Linear {
		fmt.Fprintf(b, "  fitted with c + n + n², %s of the time at n=%s is super-linear", percent(r.Superlinear), last)
		if o.bound != Constant {
			fmt.Fprintf(b, " (of %s alone it would be %s)", o.bound, percent(r.SuperlinearBound))
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(b, "  exponent of n %.2f; t(%s)/t(%s) = %.1f: to flag what is over %.3g, as is common, misses what grows beside a constant\n",
		r.Slope, last, number(float64(r.From)), r.Ratio, flagged*float64(r.Sizes[len(r.Sizes)-1])/float64(r.From))
	fmt.Fprintf(b, "  %d rounds on fresh data, the process's CPU clock, the mean of the fastest tenth\n", r.Rounds)
	if r.Verdict == growth.Exceeds && !o.outgrown() {
		if len(o.counts) == 0 {
			b.WriteString("  no probe counted: data that leaves the processor's caches looks the same, and counts would tell\n")
		} else {
			b.WriteString("  no count grows like that: it is work between what the probes count, or data that leaves the processor's caches\n")
		}
	}
}

// writeStatements lists the statements whose counts differ, if one of a database
// breaks its bound.
func (o *outcome) writeStatements(b *strings.Builder) {
	if !slices.ContainsFunc(o.counts, func(c counted) bool {
		return c.wrong != "" && len(c.values) > 0 && aboutOf(c.unit) == "sql"
	}) {
		return
	}
	if rows := growing(o.trials); len(rows) > 0 {
		b.WriteString("  statements whose count differs:\n")
		writeRows(b, rows)
	}
}

// percent is a share as people write it.
func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

// nanoseconds is a time to three digits.
func nanoseconds(ns float64) string {
	unit := "ns"
	for _, larger := range []string{"µs", "ms", "s"} {
		if ns < 999.5 {
			break
		}
		ns, unit = ns/1000, larger
	}
	return strconv.FormatFloat(ns, 'g', 3, 64) + " " + unit
}

// rightAligned are the rows as lines, with columns that end together.
func rightAligned(rows [][]string) []string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	lines := make([]string, len(rows))
	for i, row := range rows {
		for j, cell := range row {
			if j > 0 {
				lines[i] += "  "
			}
			lines[i] += strings.Repeat(" ", widths[j]-len([]rune(cell))) + cell
		}
	}
	return lines
}
