package wrappers

import (
	"testing"

	"github.com/tidestaff/tidestaff/internal/peers/cputime"
	"github.com/tidestaff/tidestaff/probe"
)

// One benchmark per operation; each has all drivers, and on each driver all
// wrappers, the bare driver first.

func BenchmarkExec(b *testing.B)        { bench(b, opExec) }
func BenchmarkQueryRow(b *testing.B)    { bench(b, opQueryRow) }
func BenchmarkQuery100(b *testing.B)    { bench(b, opQuery100) }
func BenchmarkStmtExec(b *testing.B)    { bench(b, opStmtExec) }
func BenchmarkBeginCommit(b *testing.B) { bench(b, opCommit) }

func bench(b *testing.B, op operation) {
	for _, t := range targets() {
		for _, w := range wrappersOf(t) {
			b.Run("on="+t.name+"/by="+w.name, func(b *testing.B) {
				db, s := open(b, t, w)
				measure(b, op, s, db)
			})
		}
	}
}

// BenchmarkFloor is what no wrapper that measures can do without: two readings
// of the clock and a record.
func BenchmarkFloor(b *testing.B) {
	var r probe.Recorder
	b.ReportAllocs()
	before, ok := cputime.Now()
	for b.Loop() {
		start := probe.Now()
		r.RecordShard(0, probe.Now()-start)
	}
	if after, _ := cputime.Now(); ok {
		b.ReportMetric(float64(after-before)/float64(b.N), "cpu-ns/op")
	}
}

// measure reports the CPU time beside the wall time.
func measure(b *testing.B, op operation, s *Store, db *database) {
	b.ReportAllocs()
	before, ok := cputime.Now()
	for b.Loop() {
		if _, err := op.run(s, db.ctx); err != nil {
			b.Fatal(err)
		}
	}
	if after, _ := cputime.Now(); ok {
		b.ReportMetric(float64(after-before)/float64(b.N), "cpu-ns/op")
	}
}

// open opens a filled store for the length of a test.
func open(t testing.TB, on target, by wrapper) (*database, *Store) {
	t.Helper()
	d, err := on.driver()
	if err != nil {
		t.Fatal(err)
	}
	db, err := by.open(d, on.dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	s, err := NewStore(db.ctx, db.DB)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return db, s
}
