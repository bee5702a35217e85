package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/tidestaff/tidestaff/examples/internal/drive"
	"github.com/tidestaff/tidestaff/examples/internal/progress"
	"github.com/tidestaff/tidestaff/examples/internal/stage"
	"github.com/tidestaff/tidestaff/probe/report"
)

// The parts of a variant's report: the server under load, the load generator,
// and the server at rest before it.
const (
	partServer = "server"
	partLoad   = "load"
	partIdle   = "idle"
)

// errInterrupted ends the command with a status that says so, after what was
// measured is printed.
var errInterrupted = errors.New("interrupted: the table shows what was measured until then")

// run plays the variants one after the other, prints the table and writes the
// report. After an interrupt it does so with what there is.
func run(ctx context.Context, opt options, stdout, stderr io.Writer) error {
	dir, err := os.MkdirTemp("", "tidestaff-team-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var columns []*report.Report
	var failed error
	for _, v := range opt.variants {
		if ctx.Err() != nil {
			break
		}
		column, err := runVariant(ctx, opt, v.name, filepath.Join(dir, v.name), stderr)
		failed = errors.Join(failed, err)
		if column != nil {
			columns = append(columns, column)
		}
		if err != nil {
			break
		}
	}
	if len(columns) > 0 {
		whole := report.Join("team", columns...)
		failed = errors.Join(failed, printTables(stdout, columns, opt))
		if opt.out != "" {
			failed = errors.Join(failed, whole.WriteFile(opt.out))
		}
	}
	switch {
	case ctx.Err() == nil:
		return failed
	case len(columns) == 0:
		return errors.New("interrupted before the load began")
	}
	return errInterrupted // whatever else failed, failed because of it
}

// runVariant starts the server, watches it at rest, plays the load, and stops
// it. The report is nil if there was no load.
func runVariant(ctx context.Context, opt options, variant, dir string, stderr io.Writer) (*report.Report, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	show := progress.New(stderr, variant)
	defer show.End()
	show.Say("seeding %d sandboxes and %d jobs", opt.profile.sandboxes, opt.profile.jobs)
	var s stage.Stage
	p, err := s.Start(ctx, stage.Spec{Role: roleServer, Args: opt.args(variant), Env: []string{dirVar + "=" + dir}, Ready: "/readyz"})
	if err != nil {
		return nil, err
	}
	idle, err := phase(ctx, &s, partIdle, func() error {
		show.Say("at rest")
		return sleep(ctx, opt.profile.idle)
	})
	if err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	var load *report.Report
	server, err := phase(ctx, &s, partServer, func() (err error) {
		load, err = playLoad(ctx, opt, p.URL(""), show)
		return err
	})
	err = errors.Join(err, s.Stop())
	if server == nil || load == nil {
		return nil, err
	}
	column := report.Join(variant, server, load, idle)
	column.Conditions = append(idle.Conditions, conditions(opt)...) // the data before the load
	server.Conditions, idle.Conditions = nil, nil
	column.Deviations = deviations(opt.profile)
	return column, err
}

// conditions are the seed and the flags, without those that change nothing in
// what is measured.
func conditions(opt options) (c report.Conditions) {
	c.Set("-profile", opt.profile.name)
	c.Add("-seed", int64(opt.seed), "")
	if moved := opt.profile.sweep; opt.profile.soaks() {
		c.Add("sandboxes to move", int64(moved.sandboxes), "{row}")
		c.Add("jobs to move", int64(moved.jobs), "{row}")
	}
	c.Flags(opt.flags)
	shown := map[string]bool{"-out": true, "-md": true, "-variant": true}
	return slices.DeleteFunc(c, func(c report.Condition) bool {
		was := shown[c.Name]
		shown[c.Name] = true
		return was
	})
}

// phase opens a phase in the server, does what happens in it and closes it.
// The report of a phase that was cut short is returned too.
func phase(ctx context.Context, s *stage.Stage, name string, do func() error) (*report.Report, error) {
	if err := s.Open(ctx, name); err != nil {
		return nil, err
	}
	done := do()
	// Not ctx: after an interrupt the report is still wanted.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	reports, err := s.Close(ctx)
	if err != nil || len(reports) == 0 {
		return nil, errors.Join(done, err)
	}
	rep, err := report.Read(bytes.NewReader(reports[0].JSON))
	return rep, errors.Join(done, err)
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// playLoad plays the engineers and reports them: what they waited is measured
// on their side.
func playLoad(ctx context.Context, opt options, base string, show *progress.Line) (*report.Report, error) {
	client := drive.Client(64)
	defer client.CloseIdleConnections()
	d := newLoad(opt.profile, opt.seed, base, client)
	run, err := report.Start(d, report.Options{Name: partLoad})
	if err != nil {
		return nil, err
	}
	stop := show.Follow(func() string {
		o := d.Progress()
		return fmt.Sprintf("%2.0f s, %d of %d done (%.0f %%)", o.Elapsed.Seconds(), o.Done, o.Planned, 100*o.Share())
	})
	_, err = d.Run(ctx)
	stop()
	return run.Close(), err
}
