package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// A benchmark of an answer is named "by=procfs": who is asked. What everybody is
// compared with is the kernel's own cost, the part of tidestaff that has the
// answer, and a reading of tidestaff's, which has all answers.
const (
	byKernel  = "by=kernel"
	byPart    = "by=tidestaff-part"
	byReading = "by=tidestaff"
)

func isKernel(r *row) bool { return r.name == byKernel }

// timesOver is how many times the CPU time of another benchmark of its group a
// row takes, or "" if there is no such benchmark.
func (r *row) timesOver(name string, rows []*row) string {
	i := slices.IndexFunc(rows, func(o *row) bool { return o.name == name && o.group == r.group && o.procs == r.procs })
	if i < 0 {
		return ""
	}
	return number(r.least() / rows[i].least())
}

// besides prints each answer with what it costs each, and then all answers side
// by side.
func besides(out io.Writer, rows []*row) {
	unit := "CPU ns"
	if slices.ContainsFunc(rows, func(r *row) bool { return len(r.cpu) == 0 }) {
		unit = "wall ns"
	}
	group := ""
	for _, r := range rows {
		if r.group != group {
			group = r.group
			fmt.Fprintf(out, "\n%s\tleast %s\tmedian\tmost\tx kernel\tx part\tx reading\twall ns\tallocs/op\t\n", group, unit)
		}
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%g\t\n", r.name,
			number(r.least()), number(median(r.times())), number(slices.Max(r.times())),
			r.timesOver(byKernel, rows), r.timesOver(byPart, rows), r.timesOver(byReading, rows),
			number(slices.Min(r.ns)), r.allocs)
	}
	answersOfAll(out, rows, unit)
}

// answersOfAll has a line for each who is asked and a column for each answer: the
// time, and in brackets the allocations.
func answersOfAll(out io.Writer, rows []*row, unit string) {
	var who, groups []string
	cells := map[[2]string]string{}
	for _, r := range rows {
		who, groups = added(who, r.name), added(groups, r.group)
		cells[[2]string{r.name, r.group}] = fmt.Sprintf("%s (%g)", number(r.least()), r.allocs)
	}
	fmt.Fprintf(out, "\n%s (allocs)\t%s\t\n", unit, strings.Join(groups, "\t"))
	for _, by := range who {
		fmt.Fprint(out, strings.TrimPrefix(by, "by="))
		for _, group := range groups {
			fmt.Fprint(out, "\t", cells[[2]string{by, group}])
		}
		fmt.Fprint(out, "\t\n")
	}
}
