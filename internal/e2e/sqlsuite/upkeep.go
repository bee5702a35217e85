package sqlsuite

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// CountPages frees pages of a real database and wants them counted, by no query
// and without a trace in what the program can see.
func CountPages(t *testing.T, driverName string) {
	p, closed := Watch(t, sqlitetrace.Options{Plans: sqlitetrace.PlansOnce})
	path := filepath.Join(t.TempDir(), "app.db")
	db := OpenOne(t, func(dsn string) (*sql.DB, error) { return p.Open(driverName, dsn) }, path)
	Must(t, db, "PRAGMA page_size = 1024")
	Must(t, db, "CREATE TABLE item (body BLOB)")
	Must(t, db, "INSERT INTO item WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50) SELECT zeroblob(1000) FROM n")
	Must(t, db, "DELETE FROM item WHERE rowid > 10")
	seen := func() []string {
		var s Transcript
		s.Query(db, "SELECT changes(), total_changes(), data_version FROM pragma_data_version")
		return s.Lines
	}
	before := seen()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.CountPages(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, seen()); diff != "" {
		t.Errorf("what the program sees (-before +after):\n%s", diff)
	}
	if again, err := os.ReadFile(path); err != nil || string(again) != string(file) {
		t.Errorf("the file has changed, %v", err)
	}
	r := closed()
	at := probe.Attr{Key: sqlitetrace.AttrNamespace, Value: "app.db"}
	number := func(name string) float64 {
		for m := range r.Find("tidestaff.sqlite."+name, at) {
			return m.Value
		}
		return -1
	}
	pages, free, size := number("pages"), number("free_pages"), number("page_size")
	if pages*size != float64(len(file)) || size != 1024 {
		t.Errorf("%v pages of %v bytes: the file has %d bytes", pages, size, len(file))
	}
	if free < 39 || free >= pages-10 {
		t.Errorf("free pages: got %v of %v, want those of 40 of the 50 rows", free, pages)
	}
	// setup ran four statements, and seen one each time.
	if got := Total(r, "tidestaff.db.queries"); got != 6 {
		t.Errorf("queries: got %v, want 6", got)
	}
}

// CountPagesLocked wants an error where SQLite says that it cannot tell, and the
// connection to be as good as before.
func CountPagesLocked(t *testing.T, driverName string) {
	p, closed := Watch(t, sqlitetrace.Options{})
	open := func(dsn string) (*sql.DB, error) { return p.Open(driverName, dsn) }
	path := filepath.Join(t.TempDir(), "app.db")
	db, other := OpenOne(t, open, path), OpenOne(t, open, path)
	Must(t, db, "CREATE TABLE item (n INTEGER)")
	Must(t, db, "PRAGMA busy_timeout = 0")
	Must(t, other, "BEGIN EXCLUSIVE") // of a rollback journal: it locks readers out
	if err := p.CountPages(t.Context(), db); err == nil {
		t.Error("a locked database: got no error")
	}
	Must(t, other, "COMMIT")
	Must(t, db, "INSERT INTO item VALUES (1)")
	if err := p.CountPages(t.Context(), db); err != nil {
		t.Errorf("after the lock: %v", err)
	}
	for m := range closed().Find("tidestaff.db.errors") {
		t.Errorf("errors: got %v, want none: the probe's own are not the program's", m.Attrs)
	}
}

// Checkpoint moves a real log into its database, kept from it by a reader and
// not, and wants each checkpoint timed and its numbers taken as the program read
// them; or not taken, if the driver's rows scan by themselves: those let nothing
// pass by that can be looked at.
func Checkpoint(t *testing.T, driverName string, scans bool) {
	p := sqlitetrace.New(sqlitetrace.Options{})
	w, err := p.Watch()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	open := func(dsn string) (*sql.DB, error) { return p.Open(driverName, dsn) }
	path := filepath.Join(t.TempDir(), "app.db")
	db, other := OpenOne(t, open, path), OpenOne(t, open, path)
	for _, s := range []string{"PRAGMA journal_mode = WAL", "PRAGMA wal_autocheckpoint = 0", "PRAGMA busy_timeout = 0",
		"CREATE TABLE item (body TEXT)", "INSERT INTO item VALUES ('a')"} {
		Must(t, db, s)
	}
	checkpoint := func(mode string) (row [3]float64) {
		t.Helper()
		if err := db.QueryRowContext(As("checkpoint"), "PRAGMA wal_checkpoint("+mode+")").Scan(&row[0], &row[1], &row[2]); err != nil {
			t.Fatal(err)
		}
		var r probe.Reading
		w.Read(&r)
		want := [2]float64{row[1], row[2]}
		if scans {
			want = [2]float64{}
		}
		got := [2]float64{Total(&r, "tidestaff.sqlite.checkpoint.log_frames"), Total(&r, "tidestaff.sqlite.checkpoint.moved_frames")}
		if got != want {
			t.Errorf("%s: gauges: got %v, want %v of the row's %v", mode, got, want, row)
		}
		return row
	}
	if row := checkpoint("PASSIVE"); row[0] != 0 || row[1] < 2 || row[1] != row[2] {
		t.Errorf("with nobody in the way: got %v, want all of some frames moved", row)
	}
	Must(t, other, "BEGIN DEFERRED") // in words: a driver may begin its own with the write lock
	Must(t, other, "SELECT * FROM item")
	Must(t, db, "INSERT INTO item VALUES ('b')")
	if row := checkpoint("TRUNCATE"); row[0] != 1 || row[1] <= row[2] {
		t.Errorf("with a reader in the way: got %v, want it blocked, and frames left", row)
	}
	Must(t, other, "COMMIT")
	if row := checkpoint("TRUNCATE"); row != [3]float64{} {
		t.Errorf("after the reader: got %v, want an empty log", row)
	}
	Must(t, db, "PRAGMA wal_checkpoint(RESTART)")

	r, got := w.Close(), map[string]float64{}
	for m := range r.Find("tidestaff.sqlite.checkpoint.duration", probe.Attr{Key: sqlitetrace.AttrNamespace, Value: "app.db"}) {
		got[m.Attr(sqlitetrace.AttrCheckpointMode)] = float64(m.Dist.Count())
		if m.Value <= 0 {
			t.Errorf("%s took no time", m.Attr(sqlitetrace.AttrCheckpointMode))
		}
	}
	if diff := cmp.Diff(map[string]float64{"passive": 1, "truncate": 2, "restart": 1}, got); diff != "" {
		t.Errorf("checkpoints (-want +got):\n%s", diff)
	}
	blocked := 1.0
	if scans {
		blocked = 0
	}
	if got := Total(r, "tidestaff.sqlite.checkpoint.blocked"); got != blocked {
		t.Errorf("blocked: got %v, want %v", got, blocked)
	}
}
