package sqlitetrace_test

import (
	"database/sql"
	"database/sql/driver"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// poolNumbers lists the pools' metrics.
func poolNumbers(r *probe.Reading) map[string]float64 {
	got := map[string]float64{}
	for i := range r.Metrics {
		m := &r.Metrics[i]
		if pool := m.Attr(sqlitetrace.AttrPool); pool != "" && m.Value != 0 {
			got[fmt.Sprintln(m.Name, pool, m.Attr(sqlitetrace.AttrState)+m.Attr(sqlitetrace.AttrCloseReason))] = m.Value
		}
	}
	return got
}

// TestPool has a call wait 7 ms for the only connection, and closes the pool.
func TestPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sqlitetrace.New(sqlitetrace.Options{})
		db := p.OpenDB(&server{shape: shape{conn: "EQ"}})
		db.SetMaxOpenConns(1)
		w := watch(t, p)
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		go db.Exec("plain")
		time.Sleep(7 * time.Millisecond)
		var during probe.Reading
		w.Read(&during)
		want := map[string]float64{"db.client.connection.count database used\n": 1, "db.client.connection.max database \n": 1,
			"tidestaff.db.connection.waits database \n": 1}
		if diff := cmp.Diff(want, poolNumbers(&during)); diff != "" {
			t.Errorf("while one waits (-want +got):\n%s", diff)
		}
		conn.Close()
		synctest.Wait()
		db.SetMaxIdleConns(-1)
		second := p.OpenDB(&server{shape: shape{conn: "EQ"}})
		defer second.Close()
		db.Close()
		want = map[string]float64{"tidestaff.db.connection.waits database \n": 1, "tidestaff.db.connection.wait.time database \n": 0.007,
			"tidestaff.db.connection.closed database max_idle\n": 1}
		if diff := cmp.Diff(want, poolNumbers(w.Close())); diff != "" {
			t.Errorf("after the pool's Close (-want +got):\n%s", diff)
		}
	})
}

// TestPoolNames wants a name again once its pool is closed, and an end to names.
func TestPoolNames(t *testing.T) {
	p := sqlitetrace.New(sqlitetrace.Options{})
	for range 3 {
		p.OpenDB(&server{}).Close()
	}
	var open []*sql.DB
	for range 100 {
		open = append(open, p.OpenDB(&server{}))
	}
	w := watch(t, p)
	names := map[string]bool{}
	r := w.Close()
	for m := range r.Find("db.client.connection.count") {
		names[m.Attr(sqlitetrace.AttrPool)] = true
	}
	if len(names) != 65 || !names["database"] || !names["database#64"] || !names["(other)"] {
		t.Errorf("got %d names, %v, want 64 and (other)", len(names), names)
	}
	for _, db := range open {
		db.Close()
	}
}

// TestFileSizes looks at the files that a dsn names.
func TestFileSizes(t *testing.T) {
	p := sqlitetrace.New(sqlitetrace.Options{})
	dir := t.TempDir()
	for _, path := range []string{"a/app.db", "b/app.db"} {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, make([]byte, 4096), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := p.Driver(fakeContextDriver{fakeDriver{&server{}}}).(driver.DriverContext).OpenConnector(path + "?mode=rw")
		if err != nil || c == nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "b/app.db-wal"), make([]byte, 100), 0o600); err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	r := watch(t, p).Close()
	for m := range r.Find("tidestaff.db.file.size") {
		name, _ := filepath.EvalSymlinks(dir)
		if rel, err := filepath.Rel(name, m.Attr(sqlitetrace.AttrNamespace)); err == nil {
			got[filepath.ToSlash(rel)+" "+m.Attr(sqlitetrace.AttrFile)] = m.Value
		} else {
			got[m.Attr(sqlitetrace.AttrNamespace)+" "+m.Attr(sqlitetrace.AttrFile)] = m.Value
		}
	}
	want := map[string]float64{"app.db database": 4096, "b/app.db database": 4096, "b/app.db wal": 100}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sizes (-want +got):\n%s", diff)
	}
}
