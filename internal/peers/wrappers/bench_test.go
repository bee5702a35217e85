package wrappers

import "testing"

// One benchmark per operation; each has all drivers, and on each driver all
// wrappers, the bare driver first.

func BenchmarkExec(b *testing.B)        { bench(b, opExec) }
func BenchmarkQueryRow(b *testing.B)    { bench(b, opQueryRow) }
func BenchmarkQuery100(b *testing.B)    { bench(b, opQuery100) }
func BenchmarkStmtExec(b *testing.B)    { bench(b, opStmtExec) }
func BenchmarkBeginCommit(b *testing.B) { bench(b, opCommit) }

func bench(b *testing.B, op operation) {
	for _, t := range targets() {
		for _, w := range wrappers {
			b.Run("on="+t.name+"/by="+w.name, func(b *testing.B) {
				db, s := open(b, t, w)
				measure(b, op, s, db)
			})
		}
	}
}

// measure reports the CPU time beside the wall time.
func measure(b *testing.B, op operation, s *Store, db *database) {
	b.ReportAllocs()
	before, ok := cpuTime()
	for b.Loop() {
		if _, err := op.run(s, db.ctx); err != nil {
			b.Fatal(err)
		}
	}
	if after, _ := cpuTime(); ok {
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
