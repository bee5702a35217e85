package budgets

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/tidestaff/tidestaff/fsstat"
	"github.com/tidestaff/tidestaff/fsstat/fsstattest"
	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/probe/probetest"
	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// TestMain has the flag -update, and the log of opened files.
func TestMain(m *testing.M) {
	os.Exit(probetest.Main(runner(func() int { return fsstattest.Run(m) })))
}

type runner func() int

func (r runner) Run() int { return r() }

// A Store is a service's store, with the mistakes that budgets are for.
type Store struct {
	db    *sql.DB
	sqlp  *sqlitetrace.Probe
	files *fsstat.Probe
	dir   string
}

// open makes a store of n jobs, five a user, with probes of its own.
func open(t *testing.T, n int) *Store {
	t.Helper()
	return openWith(t, n, sqlitetrace.New(sqlitetrace.Options{Plans: sqlitetrace.PlansOnce, Statements: 10_000}))
}

func openWith(t *testing.T, n int, sqlp *sqlitetrace.Probe) *Store {
	t.Helper()
	s := &Store{
		sqlp:  sqlp,
		files: fsstat.New(fsstat.Options{}),
		dir:   t.TempDir(),
	}
	db, err := s.sqlp.Open("sqlite", filepath.Join(s.dir, "jobs.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	s.db = db
	s.exec(t, "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT)")
	s.exec(t, "CREATE TABLE jobs (id INTEGER PRIMARY KEY, user_id INTEGER, state TEXT)")
	s.exec(t, "CREATE INDEX jobs_user ON jobs (user_id)")
	for i := range n {
		s.exec(t, "INSERT INTO jobs (user_id, state) VALUES (?, 'open')", i/5)
		if i%5 == 0 {
			s.exec(t, "INSERT INTO users (id, name) VALUES (?, ?)", i/5, fmt.Sprint("user ", i/5))
		}
	}
	if err := os.WriteFile(filepath.Join(s.dir, "config"), []byte("limit = 10"), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *Store) exec(t testing.TB, query string, args ...any) {
	t.Helper()
	if _, err := s.db.ExecContext(context.Background(), query, args...); err != nil {
		t.Fatal(err)
	}
}

// query reads the first column of all rows.
func (s *Store) query(ctx context.Context, query string, args ...any) (out []string, err error) {
	rows, err := s.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var v string
		if err := rows.Scan(&v); err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, rows.Err()
}

// UsersOf asks for each user of the open jobs on its own.
func (s *Store) UsersOf(ctx context.Context) error {
	ids, err := s.query(ctx, "SELECT user_id FROM jobs WHERE state = 'open' AND id > 0")
	for _, id := range ids {
		if err == nil {
			_, err = s.query(ctx, "SELECT name FROM users WHERE id = ?", id)
		}
	}
	return err
}

// EachUser asks for each user once.
func (s *Store) EachUser(ctx context.Context) error {
	for id := range 4 {
		if _, err := s.query(ctx, "SELECT name FROM users WHERE id = ?", id); err != nil {
			return err
		}
	}
	return nil
}

// Joined asks for the same in one statement.
func (s *Store) Joined(ctx context.Context) error {
	_, err := s.query(ctx, "SELECT name FROM users WHERE id IN (SELECT user_id FROM jobs WHERE id > 0)")
	return err
}

// Names reads a table from end to end, twice.
func (s *Store) Names(ctx context.Context) error {
	_, err := s.query(ctx, "SELECT name FROM users")
	if err == nil {
		_, err = s.query(ctx, "SELECT name FROM users")
	}
	return err
}

// Touch writes.
func (s *Store) Touch(ctx context.Context) error {
	_, err := s.db.ExecContext(ctx, "UPDATE jobs SET state = 'done' WHERE id = 1")
	return err
}

// Config reads a file through the probe.
func (s *Store) Config(context.Context) error {
	_, err := s.files.ReadFile(filepath.Join(s.dir, "config"))
	return err
}

// Bypass reads it with package os.
func (s *Store) Bypass(context.Context) error {
	_, err := os.ReadFile(filepath.Join(s.dir, "config"))
	return err
}

// A judged is a test that a budget is about: it keeps what it is told.
type judged struct {
	testing.TB
	errors, logs []string
}

func (j *judged) Helper()                      {}
func (j *judged) Error(args ...any)            { j.errors = append(j.errors, fmt.Sprint(args...)) }
func (j *judged) Errorf(f string, args ...any) { j.errors = append(j.errors, fmt.Sprintf(f, args...)) }
func (j *judged) Logf(f string, args ...any)   { j.logs = append(j.logs, fmt.Sprintf(f, args...)) }

// as executes a method of the store in a role.
func (s *Store) as(t testing.TB, role string, f func(context.Context) error) func() {
	return func() {
		if err := f(probe.WithRole(context.Background(), role)); err != nil {
			t.Error(err)
		}
	}
}

// want checks what the test was told.
func (j *judged) want(t *testing.T, wants ...string) {
	t.Helper()
	got := strings.Join(j.errors, "\n")
	if len(wants) == 0 && got != "" {
		t.Errorf("got %s\nwant nothing", got)
	}
	for _, want := range wants {
		if !strings.Contains(got, want) {
			t.Errorf("got %s\nwant %q in it", got, want)
		}
	}
}
