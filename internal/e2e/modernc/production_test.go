package modernc

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"modernc.org/sqlite"

	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// TestRaw makes a copy of a database with the driver's own call, through two
// wrappers: one of the driver and one of the connector, of different probes.
func TestRaw(t *testing.T) {
	outer, inner := sqlitetrace.New(sqlitetrace.Options{Name: "outer"}), sqlitetrace.New(sqlitetrace.Options{Name: "inner"})
	c, err := sqlite.NewConnector(":memory:")
	if err != nil {
		t.Fatal(err)
	}
	db := outer.OpenDB(inner.Connector(c))
	defer db.Close()
	db.SetMaxOpenConns(1)
	must(t, db, "CREATE TABLE item (name TEXT)")
	conn, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	copied := filepath.Join(t.TempDir(), "copy.db")
	err = sqlitetrace.Raw(context.Background(), conn, func(dc any) error {
		b, err := dc.(interface {
			NewBackup(string) (*sqlite.Backup, error)
		}).NewBackup(copied)
		if err != nil {
			return err
		}
		if _, err := b.Step(-1); err != nil {
			return err
		}
		return b.Finish()
	})
	if err != nil {
		t.Fatal(err)
	}
	bare, err := sql.Open("sqlite", copied)
	if err != nil {
		t.Fatal(err)
	}
	defer bare.Close()
	if _, err := bare.Exec("INSERT INTO item VALUES ('a')"); err != nil {
		t.Errorf("the copy: %v", err)
	}
}

// TestProduction wants of a real database what a service keeps on: sizes, the
// pool, slow statements without their values, and nothing left open.
func TestProduction(t *testing.T) {
	p := sqlitetrace.New(sqlitetrace.Options{Slow: 1})
	db := p.Wrap(open(t, p, filepath.Join(t.TempDir(), "app.db")))
	must(t, db.DB, "PRAGMA journal_mode = WAL")
	must(t, db.DB, "CREATE TABLE item (name TEXT)")
	w, err := p.Watch()
	if err != nil {
		t.Fatal(err)
	}
	ctx := as("Put")
	if _, err := db.ExecContext(ctx, "INSERT INTO item VALUES (?), ('secret')", "secret"); err != nil {
		t.Fatal(err)
	}
	rows, err := db.QueryContext(as("List"), "SELECT name FROM item WHERE name = ?", "secret")
	if err != nil {
		t.Fatal(err)
	}
	if held := p.Held(); len(held) != 1 || held[0].Method != "List" || held[0].Query != "SELECT name FROM item WHERE name = ?" {
		t.Errorf("held: got %+v, want the open cursor of List", held)
	}
	rows.Close()
	if held := p.Held(); len(held) != 0 {
		t.Errorf("held: got %+v, want nothing", held)
	}
	r := w.Close()
	var texts []string
	for _, e := range r.Events {
		texts = append(texts, e.Text)
		for _, a := range e.Attrs {
			texts = append(texts, a.Value)
		}
	}
	all := strings.Join(texts, "\n")
	if len(r.Events) != 2 || strings.Contains(all, "secret") || !strings.Contains(all, "INSERT INTO item VALUES (?)") {
		t.Errorf("%d events, want 2 without a value:\n%s", len(r.Events), all)
	}
	sizes := map[string]float64{}
	for m := range r.Find("tidestaff.db.file.size", probe.Attr{Key: sqlitetrace.AttrNamespace, Value: "app.db"}) {
		sizes[m.Attr(sqlitetrace.AttrFile)] = m.Value
	}
	if sizes["database"] < 4096 || sizes["wal"] <= 0 {
		t.Errorf("sizes: got %v, want a page or more, and a log", sizes)
	}
	waits := uint64(0)
	for m := range r.Find("tidestaff.db.connection.wait.duration") {
		waits += m.Dist.Count()
	}
	if waits != 2 {
		t.Errorf("calls that had a connection: got %d, want 2", waits)
	}
}
