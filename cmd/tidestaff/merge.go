package main

import (
	"errors"
	"flag"
	"io"

	"github.com/tidestaff/tidestaff/probe/report"
)

// into is what writing one report of several needs.
type into struct {
	path, name string
	files      []string
}

// parse takes the flags and the reports.
func (o *into) parse(set *flag.FlagSet, args []string) (err error) {
	set.StringVar(&o.path, "o", "", "write the report to `file`")
	set.StringVar(&o.name, "name", "", "`name` of the report")
	o.files, err = parse(set, args)
	switch {
	case err != nil:
		return err
	case o.path == "":
		return errors.New("-o is missing")
	case len(o.files) == 0:
		return errors.New("no report is named")
	}
	return nil
}

// repeat writes repeats as one report. Their targets are not judged here.
func repeat(set *flag.FlagSet, args []string, _ io.Writer) (int, error) {
	e := exclusions{}
	set.Var(e, "exclude", "keep the run in a file but do not count it, for a reason: `file=reason`; may be repeated")
	var o into
	if err := o.parse(set, args); err != nil {
		return statusMisuse, err
	}
	if err := e.check(o.files); err != nil {
		return statusMisuse, err
	}
	runs, err := openAll(o.files)
	if err != nil {
		return statusMisuse, err
	}
	for i, r := range runs {
		r.Excluded = e[o.files[i]]
	}
	all := report.Repeat(o.name, runs...)
	if all.Name == "" {
		all.Name = common(runs)
	}
	return statusFine, all.WriteFile(o.path)
}

// merge writes the reports of replicas as one.
func merge(set *flag.FlagSet, args []string, _ io.Writer) (int, error) {
	var o into
	if err := o.parse(set, args); err != nil {
		return statusMisuse, err
	}
	replicas, err := openAll(o.files)
	if err != nil {
		return statusMisuse, err
	}
	all, err := report.Merge(o.name, replicas...)
	if err != nil {
		return statusMisuse, err
	}
	if all.Name == "" {
		all.Name = common(replicas)
	}
	return statusFine, all.WriteFile(o.path)
}
