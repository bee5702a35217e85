package sqlitetrace_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// slowAnswers take 2 ms for each row and 1 ms to close.
type slowAnswers struct{ driver.Rows }

func (a slowAnswers) Next(dest []driver.Value) error {
	time.Sleep(2 * time.Millisecond)
	return a.Rows.Next(dest)
}

func (a slowAnswers) Close() error {
	time.Sleep(time.Millisecond)
	return a.Rows.Close()
}

// checkpoints is a server whose checkpoints take 4 ms and answer with the row.
func checkpoints(row ...driver.Value) *server {
	return &server{shape: shape{conn: "EQ"}, rows: func(r *fakeRows) driver.Rows {
		time.Sleep(4 * time.Millisecond)
		return slowAnswers{&answers{r, [][]driver.Value{row, row}}}
	}}
}

// checkpointNumbers are the metrics of checkpoints, by mode where they have one.
func checkpointNumbers(r *probe.Reading) map[string]float64 {
	got := map[string]float64{}
	for i := range r.Metrics {
		m := &r.Metrics[i]
		var name string
		if _, err := fmt.Sscanf(m.Name, "tidestaff.sqlite.checkpoint.%s", &name); err != nil {
			continue
		}
		key := name + " " + m.Attr(sqlitetrace.AttrCheckpointMode)
		if m.Dist != nil {
			got[key+" count"] = float64(m.Dist.Count())
		}
		got[key] = m.Value
	}
	return got
}

// TestCheckpoint times checkpoints in each way that a program asks for one, and
// takes their numbers where they pass by.
func TestCheckpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, db, w := open(t, checkpoints(int64(0), int64(30), int64(20)))
		ctx := labelled("(*Store).Checkpoint")
		var busy, log, moved int
		row := db.QueryRowContext(ctx, "-- every hour\nPRAGMA wal_checkpoint")
		if err := row.Scan(&busy, &log, &moved); err != nil || log != 30 || moved != 20 {
			t.Errorf("the program's own row: got %d, %d, %d, %v", busy, log, moved, err)
		}
		read(t, db, ctx, `pragma "main".wal_checkpoint(truncate);`)
		stmt, err := db.PrepareContext(ctx, "PRAGMA main.wal_checkpoint = 'FULL'")
		if err != nil {
			t.Fatal(err)
		}
		defer stmt.Close()
		stmt.ExecContext(ctx)
		db.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
		for _, other := range []string{"PRAGMA wal_autocheckpoint", "PRAGMA busy_timeout = 5; PRAGMA wal_checkpoint", "SELECT 'PRAGMA wal_checkpoint'"} {
			read(t, db, ctx, other)
		}
		want := map[string]float64{
			"duration passive": 0.007, "duration passive count": 1, "blocked passive": 0, // 4 ms to run, 2 for a row, 1 to close
			"duration truncate": 0.009, "duration truncate count": 2, "blocked truncate": 0, // to the end; and by Exec, at once
			"duration full": 0, "duration full count": 1, "blocked full": 0,
			"log_frames ": 30, "moved_frames ": 20,
		}
		r := w.Close()
		if diff := cmp.Diff(want, checkpointNumbers(r)); diff != "" {
			t.Errorf("checkpoints (-want +got):\n%s", diff)
		}
		if got := total(r, "tidestaff.db.queries"); got != 7 {
			t.Errorf("queries: got %v, want 7: a checkpoint is the program's own statement", got)
		}
	})
}

// TestCheckpointRow counts one that was kept from finishing, and takes no number
// for the database's that is none.
func TestCheckpointRow(t *testing.T) {
	for _, tc := range []struct {
		row  []driver.Value
		want map[string]float64
	}{
		{[]driver.Value{int64(1), int64(8), int64(0)}, map[string]float64{"blocked full": 1, "log_frames ": 8, "moved_frames ": 0}},
		{[]driver.Value{int64(0), int64(-1), int64(-1)}, map[string]float64{"blocked full": 0}},
		{[]driver.Value{int64(1), int64(8)}, map[string]float64{"blocked full": 0}},
		{[]driver.Value{int64(1), "8", int64(0)}, map[string]float64{"blocked full": 0}},
	} {
		synctest.Test(t, func(t *testing.T) {
			_, db, w := open(t, checkpoints(tc.row...))
			read(t, db, context.Background(), "PRAGMA wal_checkpoint(FULL)")
			got := checkpointNumbers(w.Close())
			delete(got, "duration full")
			delete(got, "duration full count")
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%v: (-want +got):\n%s", tc.row, diff)
			}
		})
	}
}

// TestCheckpointFails wants no time of a checkpoint that did not take place, nor
// of one that nobody watched.
func TestCheckpointFails(t *testing.T) {
	p := sqlitetrace.New(sqlitetrace.Options{})
	s := &server{shape: shape{conn: "EQ"}, rows: func(r *fakeRows) driver.Rows { return failing{r} }}
	db := p.OpenDB(s)
	defer db.Close()
	read(t, db, context.Background(), "PRAGMA wal_checkpoint")
	w := watch(t, p)
	read(t, db, context.Background(), "PRAGMA wal_checkpoint")
	r := w.Close()
	if got := checkpointNumbers(r); len(got) != 0 {
		t.Errorf("got %v, want nothing", got)
	}
	if got := total(r, "tidestaff.db.errors"); got != 1 {
		t.Errorf("errors: got %v, want 1", got)
	}
}

// failing rows fail at the first step, as a checkpoint in a transaction does.
type failing struct{ *fakeRows }

func (failing) Next([]driver.Value) error { return codeError(6) }

// TestCheckpointTypes wants the columns' types of a checkpoint's rows as the
// driver has them.
func TestCheckpointTypes(t *testing.T) {
	s := &server{shape: shape{conn: "EQ", richRows: true}}
	_, db, _ := open(t, s)
	types := func(db *sql.DB) string {
		rows, err := db.Query("PRAGMA wal_checkpoint")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		all, err := rows.ColumnTypes()
		if err != nil {
			t.Fatal(err)
		}
		length, ok := all[0].Length()
		return fmt.Sprint(all[0].DatabaseTypeName(), all[0].ScanType(), length, ok)
	}
	bare := sql.OpenDB(s)
	defer bare.Close()
	if got, want := types(db), types(bare); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
