package sqlitetrace_test

import (
	"database/sql/driver"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// A costlyRows takes a known time for each step and for the close. In a bubble
// of synctest that is exact.
type costlyRows struct {
	*fakeRows
	steps int
	cost  func(step int) time.Duration
}

func (r *costlyRows) Next(dest []driver.Value) error {
	time.Sleep(r.cost(r.steps))
	r.steps++
	return r.fakeRows.Next(dest)
}

func (r *costlyRows) Close() error {
	time.Sleep(closeCost)
	return r.fakeRows.Close()
}

const closeCost = 40 * time.Microsecond

// pages is a table's: every 37th row comes from a new page.
func pages(step int) time.Duration {
	if step%37 == 0 {
		return 1250
	}
	return 250
}

// TestRowTiming reads 100,000 rows whose steps cost a known time, by every way
// to time them. The application takes its time too, which is in none of them.
func TestRowTiming(t *testing.T) {
	var truth time.Duration
	for i := range timedRows + 1 {
		truth += pages(i)
	}
	checkRowTiming(t, truth, func(r *fakeRows) driver.Rows { return &costlyRows{r, 0, pages} })
}

// timedRows is how many rows checkRowTiming reads.
const timedRows = 100_000

// checkRowTiming reads rows and scans each, by every way to time them: rows whose
// steps cost truth together, and their close closeCost.
func checkRowTiming(t *testing.T, truth time.Duration, rows func(*fakeRows) driver.Rows) {
	const call, idle = 2 * time.Millisecond, 3 * time.Millisecond
	for _, tc := range []struct {
		name    string
		timing  sqlitetrace.RowTiming
		within  float64 // of the truth
		missing bool    // no step is timed
	}{
		{"sampled", sqlitetrace.RowTimingSampled, 0.05, false},
		{"exact", sqlitetrace.RowTimingExact, 0, false},
		{"off", sqlitetrace.RowTimingOff, 0, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &server{shape: shape{conn: "EQ"}, quiet: true}
				s.rows = func(r *fakeRows) driver.Rows {
					time.Sleep(call)
					return rows(r)
				}
				p := sqlitetrace.New(sqlitetrace.Options{RowTiming: tc.timing})
				db := p.OpenDB(s)
				defer db.Close()
				w := watch(t, p)
				result, err := db.QueryContext(labelled("m"), fmt.Sprint("rows ", timedRows))
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(idle)
				for result.Next() {
					var n int
					if err := result.Scan(&n); err != nil {
						t.Fatal(err)
					}
				}
				result.Close()
				r := w.Close()

				step := total(r, "tidestaff.db.query.time", phaseIs("step"))
				want := truth.Seconds()
				if tc.missing {
					want = 0
					for m := range r.Find("tidestaff.db.query.time", phaseIs("step")) {
						t.Errorf("time of steps: got %v, want it absent", m.Value)
					}
				}
				if math.Abs(step-want) > tc.within*want+1e-12 {
					t.Errorf("time of steps: got %v s, want %v within %v %%", step, want, 100*tc.within)
				}
				if got := total(r, "tidestaff.db.query.time", phaseIs("call")); math.Abs(got-call.Seconds()) > 1e-12 {
					t.Errorf("time of the call: got %v s, want %v", got, call)
				}
				if got := total(r, "tidestaff.db.query.time", phaseIs("close")); math.Abs(got-closeCost.Seconds()) > 1e-12 {
					t.Errorf("time of the close: got %v s, want %v", got, closeCost)
				}
				if got := total(r, "db.client.operation.duration"); math.Abs(got-step-(call+closeCost).Seconds()) > 1e-9 {
					t.Errorf("time in the driver: got %v s, want the call's %v, the steps' %v and the close's %v", got, call, step, closeCost)
				}
				if got := total(r, "tidestaff.db.query.time", phaseIs("idle")); !tc.missing && math.Abs(got-idle.Seconds()) > tc.within*want+1e-9 {
					t.Errorf("idle: got %v s, want %v", got, idle)
				}
				held, all := total(r, "tidestaff.db.cursor.duration"), (call + idle + truth + closeCost).Seconds()
				if math.Abs(held-all) > 1e-9 {
					t.Errorf("time of the cursor: got %v s, want %v", held, all)
				}
				if got := total(r, "db.client.response.returned_rows"); got != timedRows {
					t.Errorf("rows: got %v, want %d", got, timedRows)
				}
				checkEstimates(t, r, tc.timing == sqlitetrace.RowTimingSampled)
				w = watch(t, p)
				read(t, db, labelled("m"), "rows 2") // and the end: all that are timed
				checkEstimates(t, w.Close(), false)
			})
		})
	}
}

// checkEstimates wants what rests on sampled steps to say so, and nothing else.
func checkEstimates(t *testing.T, r *probe.Reading, sampled bool) {
	t.Helper()
	for i := range r.Metrics {
		m := &r.Metrics[i]
		phase := m.Attr(sqlitetrace.AttrPhase)
		estimated := m.Name == "db.client.operation.duration" || phase == "step" || phase == "idle"
		if got, want := m.Prov.How == probe.Sampled, sampled && estimated; got != want {
			t.Errorf("%s %s: sampled: got %v, want %v", m.Name, phase, got, want)
		}
		if n := m.Prov.Samples; n != 0 && (n < 2900 || n > 3300) {
			t.Errorf("%s %s: got %d samples of 100,000 rows, want about one in 32", m.Name, phase, n)
		}
	}
}

func phaseIs(phase string) probe.Attr { return probe.Attr{Key: sqlitetrace.AttrPhase, Value: phase} }

// TestAffectedRows counts them for statements that affect rows, and asks the
// driver about no others: SQLite would answer for an earlier statement.
func TestAffectedRows(t *testing.T) {
	_, db, w := open(t, &server{shape: shape{conn: "EQ"}})
	ctx := labelled("m")
	for _, query := range []string{"INSERT INTO a VALUES (1)", "plain", "BEGIN", "SELECT 1", "no result", "WITH n AS (SELECT 1) DELETE FROM a"} {
		db.ExecContext(ctx, query)
	}
	stmt, err := db.PrepareContext(ctx, "UPDATE a SET b = 1")
	if err != nil {
		t.Fatal(err)
	}
	stmt.ExecContext(ctx)
	stmt.Close()
	for _, query := range []string{"INSERT unknown", "INSERT panics", "INSERT nothing"} {
		if _, err := db.ExecContext(ctx, query); err != nil {
			t.Errorf("%s: %v", query, err)
		}
	}
	r := w.Close()
	if n, rows := count(r, "tidestaff.db.affected_rows"), total(r, "tidestaff.db.affected_rows"); n != 3 || rows != 9 {
		t.Errorf("statements, rows: got %d, %v, want 3 of 3 rows each", n, rows)
	}
}
