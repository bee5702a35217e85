package modernc

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/internal/e2e/sqlsuite"
	"github.com/tidestaff/tidestaff/lag"
	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/probe/report"
	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// held is how long the write lock is held while an actor waits for it.
const held = 600 * time.Millisecond

// TestLoopBehindWriter has an operation hold SQLite's write lock for 600 ms while an
// actor, that all writes go through, waits for it: the loop is stuck and the scheduler
// is not, and the stall is the application's and names who holds the lock and the
// statement that waits, in a report that was read back as well. It has some tries: on a
// machine that is too busy the scheduler is late too, and that is a cause as well.
func TestLoopBehindWriter(t *testing.T) {
	var scheduler, loop time.Duration
	for range 10 {
		r := holdWriter(t)
		wantLoopStall(t, r)
		var file bytes.Buffer
		if err := report.Of(r).Write(&file); err != nil {
			t.Fatal(err)
		}
		back, err := report.Read(&file)
		if err != nil {
			t.Fatal(err)
		}
		inUTC := cmp.Transformer("UTC", func(at time.Time) time.Time { return at.Round(time.Microsecond).UTC() })
		if diff := cmp.Diff(lag.StallsOf(r), lag.StallsOf(back.Reading()), inUTC); diff != "" {
			t.Errorf("stalls of the report that was read back (-want +got):\n%s", diff)
		}
		s, ok := lag.StatsOf(r)
		if !ok {
			t.Fatal("the reading has no lag of the scheduler")
		}
		l, _ := lag.LoopStatsOf(r, "")
		if scheduler, loop = s.Total.Max, l.Total.Max; scheduler < min(held/2, loop/2) {
			wantHolder(t, behindWriter(t, r))
			return
		}
	}
	t.Errorf("got a lag of %v in the scheduler, want less than %v and half of the loop's %v", scheduler, held/2, loop)
}

// least is how late the loop is at least: held, but for the distance of two slots.
const least = held * 9 / 10

// wantLoopStall wants the loop to have been stuck for as long as the lock was held,
// with the statement that waits for it in flight.
func wantLoopStall(t *testing.T, r *probe.Reading) {
	t.Helper()
	l, ok := lag.LoopStatsOf(r, "")
	if !ok {
		t.Fatal("the reading has no lag of the loop")
	}
	if l.Total.Max < least || l.BeatGap < least {
		t.Errorf("got a lag of %v and a gap of %v in the loop, want at least %v", l.Total.Max, l.BeatGap, least)
	}
	if stall := behindWriter(t, r); !strings.Contains(stall.Text, "in flight: ") {
		t.Errorf("got %q, want what is in flight", stall.Text)
	}
}

// behindWriter is the stall of the loop with the statement that waits in flight: a
// busy machine may have made others, and longer ones.
func behindWriter(t *testing.T, r *probe.Reading) lag.Stall {
	t.Helper()
	stalls := lag.StallsOf(r)
	i := slices.IndexFunc(stalls, func(s lag.Stall) bool { return s.Loop && inFlight(s, "statement", "insert", "background:actor") })
	if i < 0 {
		t.Fatalf("got %+v, want one with the statement that waits", stalls)
	}
	return stalls[i]
}

// wantHolder wants a stall to be the application's, and to name who holds the lock.
func wantHolder(t *testing.T, s lag.Stall) {
	t.Helper()
	if s.Causes[0].Cause != lag.CauseApplication || !inFlight(s, "operation", "retention", "background:retention") {
		t.Errorf("got %+v, want the application, with who holds the lock", s)
	}
	if !strings.Contains(s.Text, "retention on background:retention") {
		t.Errorf("got %q, want who holds the lock to be in flight", s.Text)
	}
}

// inFlight says whether something was under way for as long as the loop was late.
func inFlight(s lag.Stall, activity, name, role string) bool {
	return slices.ContainsFunc(s.Overlaps, func(o probe.Overlap) bool {
		return o.Activity == activity && o.Name == name && o.Role == role && o.Duration > least
	})
}

// longest is the longest stall of the loop or of the scheduler: a busy machine may
// have made others.
func longest(t *testing.T, r *probe.Reading, loop bool) lag.Stall {
	t.Helper()
	stalls := slices.DeleteFunc(lag.StallsOf(r), func(s lag.Stall) bool { return s.Loop != loop })
	if len(stalls) == 0 {
		t.Fatalf("got %+v, want a stall", lag.StallsOf(r))
	}
	return slices.MaxFunc(stalls, func(a, b lag.Stall) int { return int(a.Duration - b.Duration) })
}

// holdWriter is what is measured while the lock is held.
func holdWriter(t *testing.T) *probe.Reading {
	t.Helper()
	sqlp := sqlitetrace.New(sqlitetrace.Options{})
	dsn := "file:" + filepath.Join(t.TempDir(), "a.db") + "?_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)"
	db, err := sqlp.Open("sqlite", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	must(t, db, "CREATE TABLE item (name TEXT)")

	mailbox, stopped := make(chan func()), make(chan struct{})
	go func() {
		defer close(stopped)
		for f := range mailbox {
			f()
		}
	}()
	loop := lag.New(lag.Options{Through: func(beat func()) { mailbox <- beat }})
	ops := new(probe.Ops)
	w, err := probe.NewSet(sqlp, ops, loop, lag.New(lag.Options{})).Watch()
	if err != nil {
		t.Fatal(err)
	}

	holder, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	other, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	hctx, op := ops.Begin(probe.WithRole(context.Background(), "background:retention"), "retention")
	if _, err := holder.ExecContext(hctx, "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	if err := other.Close(); err != nil { // the actor's, so that it need not open one
		t.Fatal(err)
	}
	written := make(chan struct{})
	ctx := probe.WithRole(probe.WithMethod(context.Background(), "insert"), "background:actor")
	mailbox <- func() {
		defer close(written)
		if _, err := db.ExecContext(ctx, "INSERT INTO item VALUES ('x')"); err != nil {
			t.Error(err)
		}
	}
	sqlsuite.AwaitRunning(sqlp, "insert", held) // how long it waits is what is measured
	if _, err := holder.ExecContext(hctx, "COMMIT"); err != nil {
		t.Fatal(err)
	}
	op.End(nil)
	<-written
	r := w.Close()
	close(mailbox)
	<-stopped
	return r
}

// TestLoopThroughPool sends the slots through a pool of one connection, which
// somebody holds for a second without a statement.
func TestLoopThroughPool(t *testing.T) {
	db, err := sqlitetrace.New(sqlitetrace.Options{}).Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	ctx := context.Background()
	loop := lag.New(lag.Options{Name: "pool", Through: func(beat func()) {
		conn, err := db.Conn(ctx)
		if err != nil {
			return // the slot stays unserved, which Pending shows
		}
		defer conn.Close()
		beat()
	}})
	w, err := loop.Watch()
	if err != nil {
		t.Fatal(err)
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for age := time.Duration(0); age < time.Second; age, _ = loop.Pending() {
		time.Sleep(time.Millisecond)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	s := longest(t, w.Close(), true)
	if s.Duration < time.Second || s.Causes[0].Cause != lag.CauseApplication {
		t.Errorf("got %+v, want a stall of a second in the application", s)
	}
}
