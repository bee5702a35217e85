// Package page is what the commands of the examples have in common: their
// flags, a column for each variant of the server, phases, the table.
//
// A [Page] says what is the example's own: how one variant is played and which
// rows the table has. [Page.Main] does the rest, as the server too: the command
// starts itself again in that role (see package stage).
//
// The result goes to the standard output and progress to the standard error. An
// interrupt ends the load; what was measured until then is printed, and nothing
// is left behind: no process, no file.
package page

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/tidestaff/tidestaff/examples/internal/progress"
	"github.com/tidestaff/tidestaff/examples/internal/stage"
	"github.com/tidestaff/tidestaff/probe/report"
)

// RoleServer is the part of the process that serves; see [stage.Role].
const RoleServer = "server"

// A Page is one example's command. All fields are required.
type Page struct {
	Name     string    // the command's
	Profiles []Profile // the sizes of a run; the second one is the default
	Sizes    string    // what they are, for -help

	// Deviations are where a run departs from what it stands for.
	Deviations func(Options) []string

	// Serve is the whole life of the server's process: it calls stage.Child.
	Serve func(Options) error
	// Play plays one variant against its server, which is ready, and returns the
	// reports of its phases, that of [Run.Load] first. There are none if there
	// was no load.
	Play func(context.Context, *Run) ([]*report.Report, error)
	// Print prints the columns.
	Print func(w io.Writer, o Options, columns []*report.Report) error
}

// A Profile is one size of a run, and the servers that are compared in it, in
// the table's order.
type Profile struct {
	Name     string
	Variants []string
}

// Main is the main function of the command: it returns at a successful end and
// exits with status 1 and one line otherwise.
func (p *Page) Main() {
	opt, err := p.Parse(os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err == nil && stage.Role() == RoleServer:
		err = p.Serve(opt)
	case err == nil && stage.Role() == roleHogs:
		err = serveHogs(os.Getenv(hogsVar))
	case err == nil:
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		context.AfterFunc(ctx, stop) // a second one ends the process at once, as usual
		// A reader of the table that has gone (| head) is an error of the write
		// and not the end, which would leave the temporary folder behind.
		signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
		err = p.Run(ctx, opt, os.Stdout, os.Stderr)
		stop()
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %s\n", p.Name, strings.Join(strings.Fields(err.Error()), " "))
		os.Exit(1)
	}
}

// ErrInterrupted ends a run with a status that says so, after what was measured
// is printed.
var ErrInterrupted = errors.New("interrupted: the table shows what was measured until then")

// Run plays the variants one after the other, prints the table and writes the
// report. After an interrupt it does so with what there is.
func (p *Page) Run(ctx context.Context, opt Options, stdout, stderr io.Writer) error {
	dir, err := os.MkdirTemp("", "tidestaff-"+p.Name+"-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var failed error
	all := opt.columns()
	for _, c := range opt.interleaved(all) {
		if ctx.Err() != nil || failed != nil {
			break
		}
		run, err := p.play(ctx, opt, c, filepath.Join(dir, c.variant), stderr)
		failed = errors.Join(failed, err)
		if run != nil {
			c.runs = append(c.runs, run)
		}
	}
	var columns []*report.Report
	for _, c := range all {
		if r := c.report(); r != nil {
			columns = append(columns, r)
		}
	}
	if len(columns) > 0 {
		failed = errors.Join(failed, p.Print(stdout, opt, columns))
		if opt.Out != "" {
			failed = errors.Join(failed, report.Join(p.Name, columns...).WriteFile(opt.Out))
		}
	}
	switch {
	case ctx.Err() == nil:
		return failed
	case len(columns) == 0:
		return errors.New("interrupted before the load began")
	}
	return ErrInterrupted // whatever else failed, failed because of it
}

// play plays one run of a column in a folder of its own. The report is nil if
// there was no load.
func (p *Page) play(ctx context.Context, opt Options, c *column, dir string, stderr io.Writer) (*report.Report, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) // the server does too, unless it never came to be
	r := &Run{Options: opt, Dir: dir, Show: progress.New(stderr, c.name)}
	defer r.Show.End()
	r.Show.Say("making the data")
	server, err := r.stage.Start(ctx, stage.Spec{Role: RoleServer, Args: opt.args(c.variant), Env: []string{dirVar + "=" + dir}, Ready: "/readyz"})
	if err != nil {
		return nil, err
	}
	r.URL = server.URL("")
	var hogs stage.Stage
	parts, err := []*report.Report(nil), startHogs(ctx, &hogs, c.hogs)
	if err == nil {
		parts, err = p.Play(ctx, r)
	}
	err = errors.Join(err, hogs.Stop(), r.stage.Stop())
	if len(parts) == 0 {
		return nil, err
	}
	run := report.Join(c.name, parts...)
	run.Conditions = append(parts[0].Conditions, opt.conditions()...) // the data before the load
	if c.hogs > 0 {
		run.Conditions.Add("-hogs", int64(c.hogs), "{thread}")
	}
	run.Deviations = p.Deviations(opt)
	for _, part := range parts {
		part.Conditions = nil
	}
	return run, err
}
