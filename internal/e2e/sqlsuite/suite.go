package sqlsuite

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// An Open opens a database; dsn is a file's path or ":memory:".
type Open func(dsn string) (*sql.DB, error)

// Run plays every scenario on a database of the bare driver and on one of each
// way to wrap it, and compares what the program saw and the file that it left.
func Run(t *testing.T, driverName string, wrap func(*sqlitetrace.Probe) map[string]Open) {
	p := sqlitetrace.New(sqlitetrace.Options{})
	w, err := p.Watch()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { checkCounted(t, w.Close()) }()
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
	var queries, active float64
	for m := range r.Find("tidestaff.db.queries") {
		queries += m.Value
	}
	for m := range r.Find("tidestaff.db.cursor.active") {
		active += m.Value
	}
	if queries == 0 || active != 0 {
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
	t    *testing.T
	open Open
	dir  string
	db   *sql.DB
	out  []string
}

// play runs a scenario in a new folder and returns the transcript and the
// database file, nil if there is none.
func play(t *testing.T, sc scenario, open Open) ([]string, []byte) {
	s := &session{t: t, open: open, dir: t.TempDir()}
	s.db = s.another()
	sc.run(s)
	s.log("closed: %v", s.db.Close())
	file, err := os.ReadFile(s.path())
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return s.out, file
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

// log writes down a line, without the folder, which differs from run to run.
func (s *session) log(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	s.out = append(s.out, strings.ReplaceAll(line, s.dir, "DIR"))
}

// An execer is a *sql.DB, *sql.Tx or *sql.Conn.
type execer interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
}

// exec writes down what a statement did.
func (s *session) exec(on execer, query string, args ...any) {
	res, err := on.ExecContext(context.Background(), query, args...)
	s.result(query, res, err)
}

func (s *session) result(query string, res sql.Result, err error) {
	if err != nil {
		s.log("%s: %T: %v", query, err, err)
		return
	}
	id, idErr := res.LastInsertId()
	n, nErr := res.RowsAffected()
	s.log("%s: id %d, %v; %d rows, %v", query, id, idErr, n, nErr)
}

// query writes down everything that a query says.
func (s *session) query(on execer, query string, args ...any) {
	rows, err := on.QueryContext(context.Background(), query, args...)
	s.rows(query, rows, err)
}

func (s *session) rows(query string, rows *sql.Rows, err error) {
	if err != nil {
		s.log("%s: %T: %v", query, err, err)
		return
	}
	s.log("%s", query)
	columns, err := rows.ColumnTypes()
	if err != nil {
		s.log("columns: %v", err)
	}
	for _, c := range columns {
		length, hasLength := c.Length()
		nullable, hasNullable := c.Nullable()
		precision, scale, hasDecimal := c.DecimalSize()
		s.log("column %s %v %q %d %t %t %t %d %d %t", c.Name(), c.ScanType(), c.DatabaseTypeName(),
			length, hasLength, nullable, hasNullable, precision, scale, hasDecimal)
	}
	for {
		for rows.Next() {
			values := make([]any, len(columns))
			for i := range values {
				values[i] = new(any)
			}
			err := rows.Scan(values...)
			for i := range values {
				values[i] = fmt.Sprintf("%T(%[1]v)", *values[i].(*any))
			}
			s.log("row %v %v", values, err)
		}
		if !rows.NextResultSet() {
			break
		}
	}
	s.log("rows: %v; close: %v", rows.Err(), rows.Close())
}

// awaitIdle waits until no connection is in use: until what database/sql does
// on goroutines of its own is done.
func awaitIdle(db *sql.DB) {
	for db.Stats().InUse > 0 {
		runtime.Gosched()
	}
}
