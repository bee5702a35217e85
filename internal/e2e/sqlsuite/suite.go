package sqlsuite

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// An Open opens a database; dsn is a file's path or ":memory:".
type Open func(dsn string) (*sql.DB, error)

// Run plays every scenario on a database of the bare driver and on one of each
// way to wrap it, with and without a look at each statement's plan, and compares
// what the program saw and the file that it left.
func Run(t *testing.T, driverName string, wrap func(*sqlitetrace.Probe) map[string]Open) {
	for name, plans := range map[string]sqlitetrace.Plans{"": sqlitetrace.PlansOff, "plans": sqlitetrace.PlansOnce} {
		p, closed := Watch(t, sqlitetrace.Options{Plans: plans})
		t.Run(name, func(t *testing.T) { runAll(t, driverName, wrap, p) })
		r := closed()
		checkCounted(t, r)
		if looked := Total(r, "tidestaff.sqlite.plans") > 0; looked != (plans == sqlitetrace.PlansOnce) {
			t.Errorf("%q: plans were counted: %t", name, looked)
		}
	}
}

func runAll(t *testing.T, driverName string, wrap func(*sqlitetrace.Probe) map[string]Open, p *sqlitetrace.Probe) {
	bare := func(dsn string) (*sql.DB, error) { return sql.Open(driverName, dsn) }
	for _, sc := range scenarios {
		t.Run(sc.name, func(t *testing.T) {
			want, wantFile := play(t, sc, bare)
			if len(want) < 3 {
				t.Fatalf("the bare driver's transcript has %d lines: the scenario sees nothing", len(want))
			}
			for name, open := range wrap(p) {
				got, gotFile := play(t, sc, open)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s: transcript (-bare +wrapped):\n%s", name, diff)
				}
				if !bytes.Equal(wantFile, gotFile) {
					t.Errorf("%s: the database file differs from the bare driver's", name)
				}
			}
		})
	}
}

// checkCounted wants the wrapped programs to have been measured, and to have
// left no cursor open.
func checkCounted(t *testing.T, r *probe.Reading) {
	t.Helper()
	if queries, active := Total(r, "tidestaff.db.queries"), Total(r, "tidestaff.db.cursor.active"); queries == 0 || active != 0 {
		t.Errorf("queries, active cursors: got %v, %v, want some and 0", queries, active)
	}
}

// A scenario is a program that writes down what it sees.
type scenario struct {
	name string
	run  func(*session)
}

// A session is one database and the transcript of its use.
type session struct {
	Transcript
	t    *testing.T
	open Open
	dir  string
	db   *sql.DB
}

// play runs a scenario in a new folder and returns the transcript and the
// database file, nil if there is none.
func play(t *testing.T, sc scenario, open Open) ([]string, []byte) {
	dir := t.TempDir()
	s := &session{Transcript: Transcript{Hide: dir}, t: t, open: open, dir: dir}
	s.db = s.another()
	sc.run(s)
	s.Log("closed: %v", s.db.Close())
	file, err := os.ReadFile(s.path())
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return s.Lines, file
}

func (s *session) path() string { return filepath.Join(s.dir, "app.db") }

// another opens the session's file once more, with one connection that waits
// for no lock.
func (s *session) another() *sql.DB {
	db, err := s.open(s.path())
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	for _, pragma := range []string{"PRAGMA journal_mode = WAL", "PRAGMA busy_timeout = 0"} {
		if _, err := db.Exec(pragma); err != nil {
			s.t.Fatal(err)
		}
	}
	return db
}
