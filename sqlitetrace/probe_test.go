package sqlitetrace_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"math"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/sqlitetrace"
)

func watch(t testing.TB, p probe.Probe) *probe.Window {
	t.Helper()
	w, err := p.Watch()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// total adds up the values of a metric's series.
func total(r *probe.Reading, name string, attrs ...probe.Attr) float64 {
	var sum float64
	for m := range r.Find(name, attrs...) {
		sum += m.Value
	}
	return sum
}

// count adds up the counts of a distribution's series.
func count(r *probe.Reading, name string, attrs ...probe.Attr) uint64 {
	var n uint64
	for m := range r.Find(name, attrs...) {
		n += m.Dist.Count()
	}
	return n
}

func kindIs(k string) probe.Attr { return probe.Attr{Key: sqlitetrace.AttrOperation, Value: k} }

func classIs(c string) probe.Attr { return probe.Attr{Key: "error.type", Value: c} }

// open opens a database of the fake driver with one connection, and watches it.
func open(t testing.TB, s *server) (*sqlitetrace.Probe, *sql.DB, *probe.Window) {
	p := sqlitetrace.New(sqlitetrace.Options{})
	db := p.OpenDB(s)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	return p, db, watch(t, p)
}

// labelled is a context with a complete label.
func labelled(method string) context.Context {
	return probe.WithMethod(probe.WithRole(context.Background(), "request"), method)
}

func read(t testing.TB, db *sql.DB, ctx context.Context, query string) {
	t.Helper()
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return
	}
	for rows.Next() {
	}
	rows.Close()
}

// TestCounts runs a known mix and wants every number of the reading.
func TestCounts(t *testing.T) {
	_, db, w := open(t, &server{shape: shape{conn: "EQPCBN", stmt: "C"}})
	ctx := labelled("(*Store).List")
	for range 3 {
		db.ExecContext(ctx, "plain")
	}
	read(t, db, ctx, "rows 40")
	read(t, db, ctx, "rows 2")
	read(t, db, labelled("(*Store).Get"), "rows 1")
	tx, _ := db.BeginTx(ctx, nil)
	tx.ExecContext(ctx, "plain")
	tx.Commit()
	stmt, _ := db.PrepareContext(ctx, "rows 5")
	stmt.ExecContext(ctx)
	if rows, err := stmt.QueryContext(ctx); err == nil {
		rows.Close() // before any row
	}
	db.PingContext(ctx)
	stmt.Close()
	r := w.Close()

	got := map[string]float64{}
	for i := range r.Metrics {
		m := &r.Metrics[i]
		if m.Attr(sqlitetrace.AttrPool) != "" {
			continue // see TestPool
		}
		if m.Attr(sqlitetrace.AttrSystem) != "sqlite" || m.Attr(probe.AttrRole) != "request" {
			t.Errorf("%s: attributes %v", m.Name, m.Attrs)
		}
		name := fmt.Sprint(m.Name, " ", m.Attr(probe.AttrMethod), " ", m.Attr(sqlitetrace.AttrOperation))
		switch {
		case m.Unit == "s" && m.Dist == nil: // time, looked at below
		case m.Unit == "s":
			got[name] = float64(m.Dist.Count())
		default:
			got[name] = m.Value
		}
	}
	want := map[string]float64{
		"db.client.operation.duration (*Store).List exec":      5,
		"db.client.operation.duration (*Store).List query":     3,
		"db.client.operation.duration (*Store).List tx":        2,
		"db.client.operation.duration (*Store).Get query":      1,
		"tidestaff.db.queries (*Store).List exec":              5,
		"tidestaff.db.queries (*Store).List query":             3,
		"tidestaff.db.queries (*Store).Get query":              1,
		"db.client.response.returned_rows (*Store).List query": 42,
		"db.client.response.returned_rows (*Store).Get query":  1,
		"tidestaff.db.cursor.duration (*Store).List query":     3,
		"tidestaff.db.cursor.duration (*Store).Get query":      1,
		"tidestaff.db.cursor.active (*Store).List query":       0,
		"tidestaff.db.cursor.active (*Store).Get query":        0,
		"tidestaff.db.transaction.duration (*Store).List ":     1,
		"tidestaff.db.transaction.statements (*Store).List ":   1,
		"tidestaff.db.transaction.active (*Store).List ":       0,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("reading (-want +got):\n%s", diff)
	}
	checkTimes(t, r)
}

// checkTimes wants the phases of queries to add up to the time the cursors were
// open, and those in the driver to the operations' own.
func checkTimes(t *testing.T, r *probe.Reading) {
	t.Helper()
	busy, held := total(r, "db.client.operation.duration", kindIs("query")), total(r, "tidestaff.db.cursor.duration")
	phases, idle := total(r, "tidestaff.db.query.time"), total(r, "tidestaff.db.query.time", phaseIs("idle"))
	if math.Abs(phases-idle-busy) > 1e-12 || phases <= idle {
		t.Errorf("call, step and close: got %v s, want the operations' %v s", phases-idle, busy)
	}
	if math.Abs(phases-held) > 1e-12 {
		t.Errorf("all phases: got %v s, want the %v s that cursors were open", phases, held)
	}
	if busy > held+1e-12 {
		t.Errorf("time in the driver: got %v s, want at most the %v s that cursors were open", busy, held)
	}
}

// TestFailures counts failures by class, and what is none.
func TestFailures(t *testing.T) {
	ended, cancel := context.WithCancel(labelled("m"))
	cancel()
	for _, tc := range []struct {
		name  string
		conn  string
		run   func(s *server, db *sql.DB, ctx context.Context)
		class string // "" for none
		want  [3]float64
	}{ // want: operations, errors, retries
		{"skip, then prepared", "EQ", func(_ *server, db *sql.DB, ctx context.Context) { db.ExecContext(ctx, "skip") }, "", [3]float64{1, 0, 0}},
		{"skip query", "EQ", func(_ *server, db *sql.DB, ctx context.Context) { read(t, db, ctx, "skip") }, "", [3]float64{1, 0, 0}},
		{"busy", "EQ", func(_ *server, db *sql.DB, ctx context.Context) { db.ExecContext(ctx, "busy") }, "busy", [3]float64{1, 1, 0}},
		{"other", "", func(_ *server, db *sql.DB, ctx context.Context) { db.ExecContext(ctx, "fail") }, "other", [3]float64{1, 1, 0}},
		{"in the last step", "EQ", func(_ *server, db *sql.DB, ctx context.Context) { read(t, db, ctx, "breaks") }, "busy_snapshot", [3]float64{1, 1, 0}},
		{"in the close", "EQ", func(_ *server, db *sql.DB, ctx context.Context) { read(t, db, ctx, "fails to close") }, "other", [3]float64{1, 1, 0}},
		{"bad connection, then a good one", "EQ", func(s *server, db *sql.DB, ctx context.Context) {
			s.bad = 2
			db.ExecContext(ctx, "bad")
		}, "", [3]float64{1, 0, 2}},
		{"bad connections only", "EQ", func(s *server, db *sql.DB, ctx context.Context) {
			s.bad = 3
			read(t, db, ctx, "bad")
		}, "", [3]float64{0, 0, 3}},
		{"bad connection in a transaction", "EQ", func(s *server, db *sql.DB, ctx context.Context) {
			s.bad = 1
			tx, _ := db.BeginTx(ctx, nil)
			tx.ExecContext(ctx, "bad")
			tx.Commit()
		}, "bad_conn", [3]float64{3, 1, 0}},
		{"canceled before a legacy call", "e", func(s *server, db *sql.DB, ctx context.Context) {
			conn, _ := db.Conn(ctx)
			conn.Raw(func(dc any) error {
				_, err := dc.(driver.ExecerContext).ExecContext(ended, "plain", nil)
				return err
			})
			conn.Close()
		}, "canceled", [3]float64{1, 1, 0}},
		{"panic", "EQ", func(_ *server, db *sql.DB, ctx context.Context) {
			defer func() { recover() }()
			db.ExecContext(ctx, "panic")
		}, "other", [3]float64{1, 1, 0}},
		{"panic in a query", "EQ", func(_ *server, db *sql.DB, ctx context.Context) {
			defer func() { recover() }()
			read(t, db, ctx, "panic")
		}, "other", [3]float64{1, 1, 0}},
		{"panic in a prepared exec", "", func(_ *server, db *sql.DB, ctx context.Context) {
			defer func() { recover() }()
			db.ExecContext(ctx, "panic")
		}, "other", [3]float64{1, 1, 0}},
		{"panic in a prepared query", "", func(_ *server, db *sql.DB, ctx context.Context) {
			defer func() { recover() }()
			read(t, db, ctx, "panic")
		}, "other", [3]float64{1, 1, 0}},
		{"panic in the close", "EQ", func(_ *server, db *sql.DB, ctx context.Context) {
			defer func() { recover() }()
			read(t, db, ctx, "panics to close")
		}, "other", [3]float64{1, 1, 0}},
		{"failed rollback", "EQ", func(_ *server, db *sql.DB, ctx context.Context) {
			tx, _ := db.BeginTx(ctx, nil)
			tx.Rollback()
		}, "other", [3]float64{2, 1, 0}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := &server{shape: shape{conn: tc.conn}}
			p, db, w := open(t, s)
			tc.run(s, db, labelled("m"))
			r := w.Close()
			got := [3]float64{float64(count(r, "db.client.operation.duration")), total(r, "tidestaff.db.errors"), total(r, "tidestaff.db.retries")}
			if got != tc.want {
				t.Errorf("operations, errors, retries: got %v, want %v", got, tc.want)
			}
			operations := count(r, "db.client.operation.duration", kindIs("exec")) + count(r, "db.client.operation.duration", kindIs("query"))
			if got := total(r, "tidestaff.db.queries"); got != float64(operations) {
				t.Errorf("queries: got %v, want each of %d operations once", got, operations)
			}
			if tc.class != "" && total(r, "tidestaff.db.errors", classIs(tc.class)) != 1 {
				t.Errorf("errors of class %s: got none, want 1, in %v", tc.class, r.Metrics)
			}
			if got := p.Overlapping(nil, 0); len(got) != 0 || r.CarriedOut != 0 {
				t.Errorf("under way: got %v, %d carried out, want none", got, r.CarriedOut)
			}
		})
	}
}

// TestOpenCursor leaves a query's rows open over the end of a window.
func TestOpenCursor(t *testing.T) {
	p, db, w := open(t, &server{shape: shape{conn: "EQ"}})
	rows, err := db.QueryContext(labelled("(*Store).Leak"), "rows 3")
	if err != nil {
		t.Fatal(err)
	}
	over := p.Overlapping(nil, time.Second)
	if len(over) != 1 || over[0].Name != "(*Store).Leak" || over[0].Role != "request" || !over[0].Running {
		t.Errorf("Overlapping: got %+v, want the open query", over)
	}
	second := watch(t, p)
	r := w.Close()
	if active, queries := total(r, "tidestaff.db.cursor.active"), total(r, "tidestaff.db.queries"); active != 1 || queries != 1 {
		t.Errorf("active cursors, queries: got %v, %v, want 1, 1", active, queries)
	}
	if n := count(r, "db.client.operation.duration"); n != 0 || r.CarriedOut != 1 {
		t.Errorf("ended operations, carried out: got %d, %d, want 0, 1", n, r.CarriedOut)
	}
	rows.Close()
	r = second.Close()
	if active, queries := total(r, "tidestaff.db.cursor.active"), total(r, "tidestaff.db.queries"); active != 0 || queries != 0 {
		t.Errorf("second window: active cursors, queries: got %v, %v, want 0, 0", active, queries)
	}
	if n := count(r, "db.client.operation.duration"); n != 1 || r.CarriedIn != 1 {
		t.Errorf("second window: ended operations, carried in: got %d, %d, want 1, 1", n, r.CarriedIn)
	}
}

// TestUnwatched wants nothing of what was begun while nobody watched.
func TestUnwatched(t *testing.T) {
	p := sqlitetrace.New(sqlitetrace.Options{})
	db := p.OpenDB(&server{shape: shape{conn: "EQ"}})
	defer db.Close()
	ctx := labelled("m")
	rows, err := db.QueryContext(ctx, "rows 1")
	if err != nil {
		t.Fatal(err)
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	db.ExecContext(ctx, "plain")
	w := watch(t, p)
	rows.Close()
	tx.Commit()
	r := w.Close()
	for i := range r.Metrics {
		if m := &r.Metrics[i]; m.Attr(sqlitetrace.AttrPool) == "" {
			t.Errorf("got %v, want no metrics but the pool's", m)
		}
	}
	if held := p.Held(); len(held) != 0 {
		t.Errorf("held: got %v, want nothing", held)
	}
}

// TestCommitBelongsToBeginner ends a transaction by its context, so that
// database/sql rolls back on a goroutine of its own.
func TestCommitBelongsToBeginner(t *testing.T) {
	_, db, w := open(t, &server{shape: shape{conn: "EQ"}})
	ctx, cancel := context.WithCancel(labelled("(*Store).Save"))
	if _, err := db.BeginTx(ctx, nil); err != nil {
		t.Fatal(err)
	}
	cancel()
	awaitIdle(db)
	method := probe.Attr{Key: probe.AttrMethod, Value: "(*Store).Save"}
	if r := w.Close(); count(r, "db.client.operation.duration", kindIs("tx"), method) != 2 {
		t.Errorf("begin and rollback: got %v, want 2 of (*Store).Save", r.Metrics)
	}
}

// TestOverflow counts what is beyond the limit of methods.
func TestOverflow(t *testing.T) {
	p := sqlitetrace.New(sqlitetrace.Options{Name: "main", System: "postgresql", MaxSeries: 3})
	db := p.OpenDB(&server{shape: shape{conn: "EQ"}})
	defer db.Close()
	w := watch(t, p)
	for i := range 10 {
		db.ExecContext(labelled(fmt.Sprint("m", i)), "plain")
	}
	r := w.Close()
	other := probe.Attr{Key: probe.AttrMethod, Value: "(other)"}
	if all, rest := total(r, "tidestaff.db.queries"), total(r, "tidestaff.db.queries", other); all != 10 || rest != 7 {
		t.Errorf("queries, those of (other): got %v, %v, want 10, 7", all, rest)
	}
	for i := range r.Metrics {
		if m := &r.Metrics[i]; m.Attr(probe.AttrProbeName) != "main" || m.Attr(sqlitetrace.AttrSystem) != "postgresql" {
			t.Errorf("%s: attributes %v", m.Name, m.Attrs)
		}
	}
}

// TestConcurrent uses one database from many goroutines, with transactions and
// queries that contexts end, and readers beside it; for the race detector.
func TestConcurrent(t *testing.T) {
	p := sqlitetrace.New(sqlitetrace.Options{})
	db := p.OpenDB(&server{shape: shape{conn: "EQRV", stmt: "C"}, quiet: true})
	defer db.Close()
	db.SetMaxOpenConns(4)
	w := watch(t, p)
	const goroutines, rounds = 8, 50
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for i := range rounds {
				ctx, cancel := context.WithCancel(labelled(fmt.Sprint("m", (g+i)%5)))
				db.ExecContext(ctx, "plain")
				rows, err := db.QueryContext(ctx, "rows 100")
				if err == nil {
					rows.Next()
					go cancel()
					for rows.Next() {
					}
					rows.Close()
				}
				if tx, err := db.BeginTx(labelled("tx"), nil); err == nil {
					tx.Commit()
				}
				cancel()
			}
		})
	}
	stop := make(chan struct{})
	go func() {
		defer close(stop)
		var r probe.Reading
		for range 50 {
			w.Read(&r)
			p.Overlapping(nil, time.Second)
			runtime.Gosched()
		}
	}()
	wg.Wait()
	<-stop
	awaitIdle(db)
	r := w.Close()
	if got := total(r, "tidestaff.db.queries"); got != 2*goroutines*rounds {
		t.Errorf("queries: got %v, want %d", got, 2*goroutines*rounds)
	}
	if got := total(r, "tidestaff.db.cursor.active"); got != 0 {
		t.Errorf("active cursors: got %v, want 0", got)
	}
	checkTimes(t, r)
}
