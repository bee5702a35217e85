package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tidestaff/tidestaff/probe/report"
)

// exclusions are runs that do not count, by the argument that names them.
type exclusions map[string]string

// String is for package flag, which prints no default for it.
func (e exclusions) String() string { return "" }

// Set takes one file=reason. A reason is wanted: a run that is left out without
// one is a result that somebody did not like.
func (e exclusions) Set(s string) error {
	file, reason, _ := strings.Cut(s, "=")
	if strings.TrimSpace(reason) == "" {
		return errors.New("want file=reason")
	}
	e[file] = reason
	return nil
}

// load reads the reports of one side: one as it is, several as repeats.
func (e exclusions) load(name string, args []string) (*report.Report, error) {
	runs, err := openAll(args)
	if err != nil {
		return nil, err
	}
	for i, r := range runs {
		r.Excluded = cmp.Or(e[args[i]], r.Excluded)
	}
	if len(runs) == 1 && len(e) == 0 {
		runs[0].Name = cmp.Or(name, runs[0].Name)
		return runs[0], nil
	}
	return report.Repeat(cmp.Or(name, common(runs)), runs...), nil
}

// check finds exclusions of what was not named, which would be a misspelling.
func (e exclusions) check(args []string) error {
	named := map[string]bool{}
	for _, a := range args {
		named[a] = true
	}
	for file := range e {
		if !named[file] {
			return fmt.Errorf("-exclude %s: it is not one of the reports", file)
		}
	}
	return nil
}

// common is the runs' name if they agree.
func common(runs []*report.Report) string {
	for _, r := range runs {
		if r.Name != runs[0].Name {
			return ""
		}
	}
	return runs[0].Name
}

// openAll reads several reports.
func openAll(args []string) ([]*report.Report, error) {
	var all []*report.Report
	for _, arg := range args {
		r, err := open(arg)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// open reads a report, or the part of it that is named behind a hash. A file
// whose own name has a hash is opened as it is.
func open(arg string) (*report.Report, error) {
	path, part, _ := strings.Cut(arg, "#")
	if _, err := os.Stat(arg); err == nil {
		path, part = arg, ""
	}
	r, err := report.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for name := range strings.SplitSeq(part, "/") {
		next := r.Part(name)
		if next == nil {
			return nil, fmt.Errorf("%s: there is no part %q in it, but %s", path, part, names(r))
		}
		r = next
	}
	if r.Name == "" {
		r.Name = strings.TrimSuffix(filepath.Base(path), ".json")
	}
	return r, nil
}

// names lists the parts that there are.
func names(r *report.Report) string {
	var list []string
	for _, p := range r.Parts {
		list = append(list, fmt.Sprintf("%q", p.Name))
	}
	if list == nil {
		return "none"
	}
	return strings.Join(list, ", ")
}
