//go:build go1.27

package sqlitetrace_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// scanningRows scan by themselves. database/sql must not call their Next.
type scanningRows struct {
	*fakeRows
	row int64
}

func (r *scanningRows) Next([]driver.Value) error { panic("fake: Next of rows that scan") }

func (r *scanningRows) NextRow() error {
	if r.left == 0 {
		return io.EOF
	}
	r.left--
	r.row = int64(r.left)
	r.conn.log("next row")
	return nil
}

func (r *scanningRows) ScanColumn(ctx driver.ScanContext, i int, dest any) error {
	r.conn.log("scan column %d into %T", i, dest)
	return sql.ConvertAssign(ctx, dest, r.row*10)
}

// TestColumnScanner reads rows that scan by themselves, bare and wrapped.
func TestColumnScanner(t *testing.T) {
	sc := scenario{"scan", func(s *server, db *sql.DB, ctx context.Context) {
		rows, err := db.QueryContext(ctx, "rows 40")
		s.log("got %v", err)
		for rows.Next() {
			var n int
			s.log("scan: %v, %d", rows.Scan(&n), n)
			var raw sql.RawBytes
			s.log("scan: %v, %s", rows.Scan(&raw), raw)
		}
		s.log("rows: %v; close: %v", rows.Err(), rows.Close())
	}}
	scanning := func(open func(*server) *sql.DB) func(*server) *sql.DB {
		return func(s *server) *sql.DB {
			s.rows = func(r *fakeRows) driver.Rows { return &scanningRows{fakeRows: r} }
			return open(s)
		}
	}
	p := sqlitetrace.New(sqlitetrace.Options{})
	w := watch(t, p)
	want := play(shape{conn: "EQ"}, sc, scanning(bare))
	got := play(shape{conn: "EQ"}, sc, scanning(func(s *server) *sql.DB { return p.OpenDB(s) }))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("journal (-bare +wrapped):\n%s", diff)
	}
	r := w.Close()
	if n := total(r, "db.client.response.returned_rows"); n != 40 {
		t.Errorf("rows: got %v, want 40", n)
	}
	checkTimes(t, r)
}

// costlyScanning takes a known time for each step, and more to scan its column.
type costlyScanning struct {
	scanningRows
	steps int
}

func (r *costlyScanning) NextRow() error {
	time.Sleep(pages(r.steps))
	r.steps++
	return r.scanningRows.NextRow()
}

// scanCost is what the column of a step costs.
func scanCost(step int) time.Duration { return time.Duration(100 + 50*(step%3)) }

func (r *costlyScanning) ScanColumn(ctx driver.ScanContext, i int, dest any) error {
	time.Sleep(scanCost(r.steps - 1))
	return r.scanningRows.ScanColumn(ctx, i, dest)
}

func (r *costlyScanning) Close() error {
	time.Sleep(closeCost)
	return r.scanningRows.Close()
}

// TestScanTiming is TestRowTiming for rows that scan by themselves: the time of a
// step is that of NextRow and of ScanColumn.
func TestScanTiming(t *testing.T) {
	truth := pages(timedRows)
	for i := range timedRows {
		truth += pages(i) + scanCost(i)
	}
	checkRowTiming(t, truth, func(r *fakeRows) driver.Rows { return &costlyScanning{scanningRows: scanningRows{fakeRows: r}} })
}

// TestNoColumnScanner wants rows that do not scan to stay so: database/sql would
// not call their Next.
func TestNoColumnScanner(t *testing.T) {
	p := sqlitetrace.New(sqlitetrace.Options{})
	watch(t, p)
	conn, err := p.Connector(&server{shape: shape{conn: "EQ"}}).Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rows, err := conn.(driver.QueryerContext).QueryContext(t.Context(), "rows 1", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	if _, ok := rows.(driver.RowsColumnScanner); ok {
		t.Error("got a RowsColumnScanner around rows that are none")
	}
}
