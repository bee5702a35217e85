// Command tidestaff shows and compares reports that were written by package
// probe/report.
//
//	tidestaff show [-md | -html | -bench] [-o file] report.json...
//	tidestaff compare [-md | -html] [-o file] before.json... -- after.json...
//	tidestaff repeat -o repeats.json report.json...
//	tidestaff merge -o fleet.json report.json...
//
// Several reports on one side are repeats of one variant. With -exclude
// file=reason a run is shown and does not count. A part of a report is named
// behind a hash, nested ones with slashes: run.json#before/server.
//
// The exit status is 0 if all is well, 1 if a target failed or a number is
// worse, and 2 if the command was misused or a file cannot be read or written. It is
// 3 after compare -strict if nothing is worse, but a number unclear or not comparable.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

// The exit statuses.
const (
	statusFine      = 0
	statusWorse     = 1
	statusMisuse    = 2
	statusUndecided = 3
)

// statusOf is the status of a judgement.
func statusOf(worse bool) int {
	if worse {
		return statusWorse
	}
	return statusFine
}

// A command runs with its own arguments and gives the exit status. Its errors are
// misuse.
type command struct {
	name, args, help string
	run              func(*flag.FlagSet, []string, io.Writer) (status int, err error)
}

var commands = []command{
	{"show", "[-md | -html | -bench] [-o file] report.json...", "writes a report, or several as repeats of one variant", show},
	{"compare", "[-md | -html] [-o file] before.json... -- after.json...", "says of each number whether it is worse; two files need no --", compare},
	{"repeat", "-o repeats.json report.json...", "writes several reports as repeats of one variant", repeat},
	{"merge", "-o fleet.json report.json...", "writes the reports of many replicas of a service as one", merge},
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is main with its surroundings, and returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		usage(stderr)
		return statusMisuse
	}
	for _, c := range commands {
		if c.name == args[0] {
			return c.execute(args[1:], stdout, stderr)
		}
	}
	if strings.TrimLeft(args[0], "-") == "help" || args[0] == "-h" {
		usage(stdout)
		return statusFine
	}
	fmt.Fprintf(stderr, "tidestaff: there is no command %q; try tidestaff help\n", args[0])
	return statusMisuse
}

func usage(w io.Writer) {
	fmt.Fprintln(w, "tidestaff shows and compares reports. Commands, each with -h for its flags:")
	for _, c := range commands {
		fmt.Fprintf(w, "\n  tidestaff %s %s\n    \t%s\n", c.name, c.args, c.help)
	}
}

// execute runs one command and turns what it says into a status.
func (c *command) execute(args []string, stdout, stderr io.Writer) int {
	set := flag.NewFlagSet(c.name, flag.ContinueOnError)
	set.SetOutput(io.Discard) // an error is one line, not the list of all flags
	set.Usage = func() {
		set.SetOutput(stdout)
		fmt.Fprintf(stdout, "tidestaff %s %s\n%s\n", c.name, c.args, c.help)
		set.PrintDefaults()
	}
	status, err := c.run(set, args, stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return statusFine
	case err != nil:
		fmt.Fprintf(stderr, "tidestaff %s: %v\n", c.name, err)
		return statusMisuse
	}
	return status
}
