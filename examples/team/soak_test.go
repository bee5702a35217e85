package main

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/probe/report"
	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// smallSoak is the soak in a few seconds.
var smallSoak = profile{name: "small-soak", sandboxes: 4_200, jobs: 100, tokens: userCount, sessions: 2, turns: 1, turn: 10 * time.Second,
	userJobs: 1, speed: 10, load: time.Second, cap: time.Minute, sweep: sweep{sandboxes: 4_000, jobs: 100, over: 10 * time.Second}}

// TestSoak plays the small soak and wants all of it done, each transaction of
// retention as large as its column says, and the ledger to have them all.
func TestSoak(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	out := filepath.Join(t.TempDir(), "r.json")
	opt, err := parseOptions([]string{"-profile", smallSoak.name, "-out", out})
	if err != nil {
		t.Fatal(err)
	}
	var table bytes.Buffer
	if err := run(context.Background(), opt, &table, io.Discard); err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + table.String())
	whole, err := report.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range soakVariants {
		t.Run(v.name, func(t *testing.T) {
			column := whole.Part(v.name)
			checkFinished(t, column)
			checkBatches(t, column.Part(partServer), v.batch)
		})
	}
	nothingLeft(t, tmp)
}

// checkFinished wants nothing failed and every turn, job and sweep at its end.
func checkFinished(t *testing.T, column *report.Report) {
	t.Helper()
	load, server, p := column.Part(partLoad), column.Part(partServer), smallSoak
	got := map[string]float64{
		"failures": sum(load, metricFailures, nil), "not done": sum(load, metricPlanned, nil) - sum(load, metricDone, nil),
		opTurn: ended(server, opTurn), opJob: ended(server, opJob), opRetention: ended(server, opRetention),
	}
	want := map[string]float64{
		"failures": 0, "not done": 0,
		opTurn: float64(userCount * p.sessions * p.turns), opJob: float64(userCount * p.userJobs), opRetention: 1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("finished (-want +got):\n%s", diff)
	}
}

// batches is what a method of retention has done: its transactions, its holds
// of the lock, and the rows of its statements.
type batches struct{ Committed, Holds, Statements, Rows, Most int }

// checkBatches wants as many transactions as the records fill, each of them
// full (the jobs fill one of 100 and make up one of 500 that is the last), and
// as many holds of the write lock on retention's own goroutine.
func checkBatches(t *testing.T, server *report.Report, batch int) {
	t.Helper()
	full := func(n int) batches { // an INSERT and a DELETE each
		transactions := (n + batch - 1) / batch
		return batches{Committed: transactions, Holds: transactions, Statements: 2 * transactions, Rows: 2 * n, Most: min(batch, n)}
	}
	got, want := map[string]batches{}, map[string]batches{
		archiveSandboxes: full(smallSoak.sweep.sandboxes), archiveJobs: full(smallSoak.sweep.jobs),
	}
	role := probe.Attr{Key: probe.AttrRole, Value: roleRetention}
	add := func(metric string, to func(b *batches, d *probe.Dist)) {
		for m := range server.Reading().Find(metric, role) {
			b := got[m.Attr(probe.AttrMethod)]
			to(&b, m.Dist)
			got[m.Attr(probe.AttrMethod)] = b
		}
	}
	add(metricTransaction, func(b *batches, d *probe.Dist) { b.Committed += int(d.Count()) })
	add(metricHold, func(b *batches, d *probe.Dist) { b.Holds += int(d.Count()) })
	add(metricAffected, func(b *batches, d *probe.Dist) {
		b.Statements, b.Rows, b.Most = b.Statements+int(d.Count()), b.Rows+int(d.Sum()), max(b.Most, int(d.Max()))
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("retention's transactions (-want +got):\n%s", diff)
	}
}

// TestLedgerNamesHolder has one loop write session after session while
// retention moves jobs, and wants the wait charged to both, by method and role.
func TestLedgerNamesHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	if err := Seed(path, 1, profile{sandboxes: 10, jobs: 600}); err != nil {
		t.Fatal(err)
	}
	p := sqlitetrace.New(sqlitetrace.Options{})
	s, err := OpenStore(watched(p), path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w, err := p.Watch()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	ctx, cancel := context.WithCancel(t.Context())
	var turns sync.WaitGroup
	turns.Go(func() {
		probe.Do(ctx, "background:turns", func(ctx context.Context) {
			for ctx.Err() == nil {
				_ = s.PutSession(context.WithoutCancel(ctx), &Session{}) // there is none of that ID; it takes the lock all the same
			}
		})
	})
	probe.Do(t.Context(), roleRetention, func(ctx context.Context) {
		for {
			moved, err := s.ArchiveJobs(ctx, 0, 200)
			if err != nil {
				t.Error(err)
			}
			if moved == 0 {
				return
			}
		}
	})
	cancel()
	turns.Wait()
	rep := report.Of(w.Close())
	charged := func(m *probe.Metric) bool {
		return m.Attr(probe.AttrMethod) == "(*Store).PutSession" && m.Attr(probe.AttrRole) == "background:turns" &&
			m.Attr(attrHolder) == archiveJobs && m.Attr(attrHolderRole) == roleRetention
	}
	if waits := sum(rep, metricLockWaits, charged); waits == 0 {
		t.Error("no wait for retention's transactions, want at least one")
	}
	if got, want := sum(rep, metricOthersWaited, inRetention), sum(rep, metricLockWait, charged); got != want || got == 0 {
		t.Errorf("others waited %v s for retention, want the %v s of the one that did", got, want)
	}
}

// TestSoakHold moves sandboxes in transactions of 500 and of 100 rows in turn,
// with nothing beside them, and wants the ledger's median hold of the former to
// be at least twice as long. Five times the rows take about 3.5 times as long:
// a transaction has a cost of its own. In the soak itself the load decides as
// much about a hold, so there the rows of each are what is wanted.
func TestSoakHold(t *testing.T) {
	const rounds = 15
	path := filepath.Join(t.TempDir(), "x.db")
	if err := Seed(path, 1, profile{sandboxes: rounds*600 + userCount, jobs: 1}); err != nil {
		t.Fatal(err)
	}
	p := sqlitetrace.New(sqlitetrace.Options{})
	s, err := OpenStore(watched(p), path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w, err := p.Watch()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for range rounds {
		for _, v := range soakVariants {
			probe.Do(t.Context(), v.name, func(ctx context.Context) { // the role tells the two apart
				if moved, err := s.ArchiveSandboxes(ctx, v.batch); err != nil || moved != int64(v.batch) {
					t.Fatalf("got %d moved, %v, want %d", moved, err, v.batch)
				}
			})
		}
	}
	held := map[string]int64{}
	for m := range w.Close().Find(metricHold, probe.Attr{Key: probe.AttrMethod, Value: archiveSandboxes}) {
		held[m.Attr(probe.AttrRole)] = m.Dist.Quantile(0.5)
	}
	large, small := held[soakVariants[0].name], held[soakVariants[1].name]
	if small == 0 || large < 2*small {
		t.Errorf("median holds of 500 and of 100 rows: got %d ns and %d ns, want the first at least twice the second", large, small)
	}
}

// TestSweep wants what retention was asked to move and no more of it, and to
// be told if there is not as much.
func TestSweep(t *testing.T) {
	for name, c := range map[string]struct{ ask, want swept }{
		"some": {swept{Sandboxes: 20, Jobs: 7}, swept{Sandboxes: 20, Jobs: 7}},
		"all":  {swept{Sandboxes: 24, Jobs: 10}, swept{Sandboxes: 24, Jobs: 10}},
		"more": {swept{Sandboxes: 30, Jobs: 11}, swept{Sandboxes: 24, Jobs: 10}},
	} {
		t.Run(name, func(t *testing.T) {
			l := &loops{store: openStores(t, 24+userCount, 10)[after], ops: new(probe.Ops), batch: 8,
				profile: profile{speed: 1000, sweep: sweep{c.ask.Sandboxes, c.ask.Jobs, time.Second}}}
			l.run(1)
			defer l.stop()
			got, err := newServer(l.store, l.ops, l).retention(t.Context(), userName(0), arguments{})
			if err != nil || got != c.want {
				t.Errorf("got %+v, %v, want %+v", got, err, c.want)
			}
		})
	}
}
