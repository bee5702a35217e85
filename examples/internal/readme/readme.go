// Package readme holds the code that README.md shows, so that it compiles, and
// a test that the two are the same.
package readme

import (
	"context"
	"os"
	"testing"

	_ "modernc.org/sqlite" // the driver that the code opens

	"github.com/tidestaff/tidestaff/cgroup"
	"github.com/tidestaff/tidestaff/lag"
	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/probe/probetest"
	"github.com/tidestaff/tidestaff/probe/report"
	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// load stands for what the service does while it is measured, list for one of
// its operations.
var (
	load = func(ctx context.Context) {}
	list = func(ctx context.Context) error { return nil }
	dsn  = ":memory:"
	sqlp = sqlitetrace.New(sqlitetrace.Options{})
)

// service is the README's use in a service.
func service(ctx context.Context) error {
	sqlp := sqlitetrace.New(sqlitetrace.Options{})
	db, err := sqlp.Open("sqlite", dsn) // any registered driver; a *sql.DB like any other
	if err != nil {
		return err
	}
	defer db.Close()

	ops := new(probe.Ops) // the service's own operations
	set := probe.NewSet(sqlp, ops, lag.New(lag.Options{}), cgroup.New(cgroup.Options{}))

	run, err := report.Start(set, report.Options{Name: "after"})
	if err != nil {
		return err
	}
	probe.Do(ctx, "request", func(ctx context.Context) {
		ctx, op := ops.Begin(ctx, "list_sandboxes")
		load(ctx) // queries and rows are counted for the operation in ctx
		op.End(nil)
	})
	return run.Close().WriteMarkdown(os.Stdout)
}

// BenchmarkList is the README's use in a benchmark.
func BenchmarkList(b *testing.B) {
	probetest.Loop(b, func() {
		if err := list(b.Context()); err != nil {
			b.Fatal(err)
		}
	}, sqlp) // reports queries/op, sql-ns/op, rows/op and more, for benchstat
}

// budget is the README's use in a test.
func budget(t *testing.T) {
	probetest.Within(t, sqlp, 1, func() { load(t.Context()) },
		probetest.AtMost("queries/op", 8), probetest.NoWrites()) // and NoFullScans, NoDuplicates, NoFileReads, …
}
