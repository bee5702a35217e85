package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tidestaff/tidestaff/probe/report"
)

// list is a flag that may be repeated.
type list []string

// String is for package flag, which prints no default for it.
func (l *list) String() string { return "" }

// Set appends one.
func (l *list) Set(s string) error {
	if s == "" {
		return errors.New("empty")
	}
	*l = append(*l, s)
	return nil
}

// directions are metrics whose better direction the command line gives.
type directions struct {
	better map[string]string
	word   string
}

// String is for package flag, which prints no default for it.
func (d directions) String() string { return "" }

// Set takes the name of a metric.
func (d directions) Set(s string) error {
	if s == "" || d.better[s] != "" && d.better[s] != d.word {
		return errors.New("empty, or both -lower and -higher")
	}
	d.better[s] = d.word
	return nil
}

// compare writes verdicts. It is worse if a number is, or if a target of after failed.
func compare(set *flag.FlagSet, args []string, stdout io.Writer) (int, error) {
	var o output
	o.add(set)
	opts := report.CompareOptions{Better: map[string]string{}}
	set.Var((*list)(&opts.Metrics), "metric", "compare this `metric` only; may be repeated")
	set.Var((*list)(&opts.Ignore), "ignore", "let this `condition` differ, such as the flag whose effect is compared; may be repeated")
	set.Var(directions{opts.Better, "lower"}, "lower", "lower is better of this `metric`; may be repeated")
	set.Var(directions{opts.Better, "higher"}, "higher", "higher is better of this `metric`; may be repeated")
	set.Float64Var(&opts.Alpha, "alpha", 0, "p `value` from which on a change may be chance (default 0.02)")
	floor := set.Float64("floor", 0, "per `cent` of change that do not matter (default 5 for counts and CPU time, 10 for memory and times)")
	set.BoolVar(&opts.SameWork, "same-work", false, "both sides did the same work, so that totals can be compared")
	set.BoolVar(&opts.All, "all", false, "show the numbers that are the same or not comparable too")
	strict := set.Bool("strict", false, "exit with 3 if nothing is worse, but a number is unclear or not comparable")
	files, err := parse(set, args)
	if err != nil {
		return statusMisuse, err
	}
	opts.Floor = *floor / 100
	if opts.Alpha < 0 || opts.Alpha >= 1 || opts.Floor < 0 {
		return statusMisuse, errors.New("-alpha is from 0 to 1, and -floor not negative")
	}
	before, after, err := sides(files)
	if err != nil {
		return statusMisuse, err
	}
	if err := o.exclude.check(slices.Concat(before, after)); err != nil {
		return statusMisuse, err
	}
	b, err := o.exclude.load("", before)
	if err != nil {
		return statusMisuse, err
	}
	a, err := o.exclude.load("", after)
	if err != nil {
		return statusMisuse, err
	}
	c := report.Compare(b, a, opts)
	if len(c.Changes) == 0 {
		return statusMisuse, fmt.Errorf("nothing to compare: no metric of %s is reported by a benchmark; name some with -metric, -lower or -higher", strings.Join(files, " "))
	}
	status := statusOf(c.Worse() || a.Failed())
	if *strict && status == statusFine && slices.ContainsFunc(c.Changes, undecided) {
		status = statusUndecided
	}
	return status, o.write(c, stdout)
}

func undecided(c report.Change) bool {
	return c.Verdict == report.Unclear || c.Verdict == report.NotComparable
}

// sides splits the reports at the --. Two reports alone need none.
func sides(files []string) (before, after []string, err error) {
	i := slices.Index(files, "--")
	switch {
	case i < 0 && len(files) == 2:
		return files[:1], files[1:], nil
	case i < 0:
		return nil, nil, fmt.Errorf("%d reports and no -- between those of before and those of after", len(files))
	}
	before, after = files[:i], files[i+1:]
	if len(before) == 0 || len(after) == 0 || slices.Contains(after, "--") {
		return nil, nil, errors.New("want some reports on both sides of one --")
	}
	return before, after, nil
}
