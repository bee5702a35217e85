package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

// A printer is what reports and comparisons have in common.
type printer interface {
	WriteTerminal(io.Writer) error
	WriteMarkdown(io.Writer) error
	WriteHTML(io.Writer) error
}

// output is the flags that say what is written, and where.
type output struct {
	markdown, html bool
	path           string
	exclude        exclusions
	name           string
}

// add declares the flags.
func (o *output) add(set *flag.FlagSet) {
	o.exclude = exclusions{}
	set.BoolVar(&o.markdown, "md", false, "write Markdown")
	set.BoolVar(&o.html, "html", false, "write one page of HTML that needs nothing else")
	set.StringVar(&o.path, "o", "", "write to `file`, not to the standard output")
	set.Var(o.exclude, "exclude", "show the run in a file but do not count it, for a reason: `file=reason`; may be repeated")
}

// write writes in the form that was asked for.
func (o *output) write(p printer, stdout io.Writer) error {
	switch {
	case o.markdown && o.html:
		return errors.New("-md and -html: one of them")
	case o.markdown:
		return o.to(stdout, p.WriteMarkdown)
	case o.html:
		return o.to(stdout, p.WriteHTML)
	}
	return o.to(stdout, p.WriteTerminal)
}

// to writes to the file of -o or else to the standard output.
func (o *output) to(stdout io.Writer, write func(io.Writer) error) error {
	if o.path == "" {
		return write(stdout)
	}
	f, err := os.Create(o.path)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// parse takes the flags; what follows are reports. A flag behind them would be
// taken for a file.
func parse(set *flag.FlagSet, args []string) ([]string, error) {
	if err := set.Parse(args); err != nil {
		return nil, err
	}
	for _, a := range set.Args() {
		if strings.HasPrefix(a, "-") && a != "--" {
			return nil, fmt.Errorf("flag %s stands behind the reports; flags come first", a)
		}
	}
	return set.Args(), nil
}

// show writes one report, or several as repeats. It is worse if a target failed.
func show(set *flag.FlagSet, args []string, stdout io.Writer) (int, error) {
	var o output
	o.add(set)
	bench := set.Bool("bench", false, "write the lines of a Go benchmark, for benchstat")
	set.StringVar(&o.name, "name", "", "`name` of the variant")
	files, err := parse(set, args)
	if err != nil {
		return statusMisuse, err
	}
	if len(files) == 0 {
		return statusMisuse, errors.New("no report is named")
	}
	if err := o.exclude.check(files); err != nil {
		return statusMisuse, err
	}
	r, err := o.exclude.load(o.name, files)
	if err != nil {
		return statusMisuse, err
	}
	if *bench {
		if o.markdown || o.html {
			return statusMisuse, errors.New("-bench is a form of its own, beside -md and -html")
		}
		return statusOf(r.Failed()), o.to(stdout, r.WriteBenchmarks)
	}
	return statusOf(r.Failed()), o.write(r, stdout)
}
