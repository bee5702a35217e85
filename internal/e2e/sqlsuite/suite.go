package sqlsuite

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"slices"
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
	for _, sc := range slices.Concat(Shared, scenarios) {
		t.Run(sc.Name, func(t *testing.T) {
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

// A Scenario is a program that writes down what it sees.
type Scenario struct {
	Name string
	Run  func(*Session)
}

// A Dialect is what differs between systems in the scenarios that they share.
type Dialect struct {
	Schema  string                    // makes the table item
	Bind    func(query string) string // writes a query's parameters, which are ?, as the system does; nil for ?
	Endless string                    // a query of one row that never comes
	InTx    string                    // a query for what a transaction is like
}

// A Session is one database and the transcript of its use.
type Session struct {
	Transcript
	Dialect
	DB      *sql.DB
	Another func() *sql.DB // opens it once more, with one connection that waits for no lock
	open    Open
}

// Play makes the schema, runs the scenario and closes the database.
func (s *Session) Play(sc Scenario) {
	s.DB = s.Another()
	s.Exec(s.DB, s.Schema)
	sc.Run(s)
	s.Log("closed: %v", s.DB.Close())
}

func (s *Session) bind(query string) string {
	if s.Bind == nil {
		return query
	}
	return s.Bind(query)
}

// Exec is that of the transcript, for a query in the suite's own way of writing.
func (s *Session) Exec(on Target, query string, args ...any) {
	s.Transcript.Exec(on, s.bind(query), args...)
}

// Query likewise.
func (s *Session) Query(on Target, query string, args ...any) {
	s.Transcript.Query(on, s.bind(query), args...)
}

// play runs a scenario in a new folder and returns the transcript and the
// database file, nil if there is none.
func play(t *testing.T, sc Scenario, open Open) ([]string, []byte) {
	dir := t.TempDir()
	path := filepath.Join(dir, "app.db")
	s := &Session{Transcript: Transcript{Hide: dir}, Dialect: sqlite, open: open, Another: func() *sql.DB { return another(t, open, path) }}
	s.Play(sc)
	left, err := filepath.Glob(filepath.Join(dir, "*")) // of a log or a journal nothing
	s.Log("files: %v, %v", left, err)
	file, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return s.Lines, file
}

// another opens the file once more.
func another(t *testing.T, open Open, path string) *sql.DB {
	db := OpenOne(t, open, path)
	for _, pragma := range []string{"PRAGMA journal_mode = WAL", "PRAGMA busy_timeout = 0"} {
		if _, err := db.Exec(pragma); err != nil {
			t.Fatal(err)
		}
	}
	return db
}
