// Command team is a load test of a control plane: six engineers play against
// a Go server whose records are JSON in an embedded SQLite database, once
// while it parses every sandbox record for each listing and look-up by name
// ("before") and once with indexes and pages ("after"). It prints what each
// of them cost, side by side.
//
//	go run ./examples/team                     both variants, about a minute
//	go run ./examples/team -profile full       the rates of a real day
//	go run ./examples/team -profile soak       all turns at once, beside 500 and 100 rows a transaction
//	go run ./examples/team -md                 a table for a pull request
//	go run ./examples/team -variant after -out r.json
//
// The server runs in a process of its own, so that the lag, the memory and the
// CPU time in the table are the server's.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/tidestaff/tidestaff/examples/internal/stage"
)

// The variants of the page, and the word for all that a profile has.
const (
	before = "before"
	after  = "after"
	both   = "both"
)

// options are the command line.
type options struct {
	profile  profile
	variant  string
	variants []variant // those that it selects
	seed     uint64
	addr     string
	out      string
	markdown bool
	flags    *flag.FlagSet
}

// parseOptions reads the command line. Its errors are one line.
func parseOptions(args []string) (opt options, err error) {
	fs := flag.NewFlagSet("team", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	name := fs.String("profile", "quick", "`size`: smoke, quick (the page's data, time shortened), full (the page) or soak (all turns at once while retention works)")
	fs.StringVar(&opt.variant, "variant", both, "`which` server: before, after or both; of a soak 500-rows, 100-rows or both")
	fs.Uint64Var(&opt.seed, "seed", 1, "random `number` of data and schedules")
	fs.StringVar(&opt.addr, "addr", "127.0.0.1:0", "loopback `address` of the server; port 0 is a free one")
	fs.StringVar(&opt.out, "out", "", "write the report as JSON to `file`")
	fs.BoolVar(&opt.markdown, "md", false, "print Markdown")
	opt.flags = fs
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fs.SetOutput(os.Stderr)
			fs.Usage()
		}
		return opt, err
	}
	if fs.NArg() > 0 {
		return opt, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	if opt.profile, err = profileOf(*name); err != nil {
		return opt, err
	}
	if opt.variants, err = opt.profile.variantsOf(opt.variant); err != nil {
		return opt, err
	}
	return opt, opt.check()
}

// check finds before the run what would make it fail at the end.
func (o options) check() error {
	host, _, err := net.SplitHostPort(o.addr)
	if err != nil {
		return fmt.Errorf("-addr: %w", err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("-addr %q: not a loopback address", o.addr)
	}
	if o.out == "" {
		return nil
	}
	if info, err := os.Stat(o.out); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil // such as /dev/stdout
	}
	f, err := os.CreateTemp(filepath.Dir(o.out), ".team-*")
	if err != nil {
		return fmt.Errorf("-out %s: %w", o.out, errors.Unwrap(err)) // not the temporary name
	}
	f.Close()
	return os.Remove(f.Name())
}

// args are the command line of the server of one variant.
func (o options) args(variant string) []string {
	return []string{"-profile", o.profile.name, "-variant", variant, "-seed", fmt.Sprint(o.seed), "-addr", o.addr}
}

func main() {
	opt, err := parseOptions(os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err == nil && stage.Role() == roleServer:
		err = serveChild(opt)
	case err == nil:
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		context.AfterFunc(ctx, stop) // a second one ends the process at once, as usual
		// A reader of the table that has gone (| head) is an error of the write
		// and not the end, which would leave the temporary folder behind.
		signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
		err = run(ctx, opt, os.Stdout, os.Stderr)
		stop()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "team:", strings.Join(strings.Fields(err.Error()), " "))
		os.Exit(1)
	}
}
