package sqlitetrace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidestaff/tidestaff/probe"
)

func TestParseDSN(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a b.db")
	real, slashed := fileKey(file), strings.TrimPrefix(filepath.ToSlash(file), "/")
	if err := os.Symlink(dir, filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	t.Chdir(dir)
	for _, tc := range []struct {
		name      string
		key       string
		immediate bool
	}{
		{file, real, false},
		{"a b.db", real, false},
		{"./a b.db?_txlock=immediate&_pragma=journal_mode(WAL)", real, true},
		{"file:a%20b.db?_txlock=EXCLUSIVE", real, true},
		{"file:///" + slashed + "?_txlock=deferred", real, false},
		{"file://localhost/" + slashed, real, false},
		{"link/a b.db", real, false},
		{":memory:", "", false},
		{"", "", false},
		{"file::memory:?cache=shared", "", false},
		{"file:a?mode=memory&cache=shared&_txlock=immediate", "", true},
		{"file:/a?vfs=memdb", "", false},
	} {
		if d := parseDSN(tc.name); d.key != tc.key || d.immediate != tc.immediate {
			t.Errorf("%q: got %+v, want key %q, immediate %v", tc.name, d, tc.key, tc.immediate)
		}
	}
}

func FuzzParseDSN(f *testing.F) {
	f.Add("file:///a%2Fb?_txlock=immediate")
	f.Fuzz(func(t *testing.T, name string) {
		if d := parseDSN(name); (d.key == "") != (d.path == "") {
			t.Errorf("%q: got key %q of path %q, want both or none", name, d.key, d.path)
		}
	})
}

// TestDatabases wants one ledger per file, none in memory, and bounds.
func TestDatabases(t *testing.T) {
	p := New(Options{})
	a, again, other := p.database("a.db", true), p.database("file:a.db?_txlock=immediate", true), p.database("b.db", true)
	if a.ledger != again.ledger || a.ledger == other.ledger || a.immediate || !again.immediate {
		t.Errorf("one file by two names: got %+v, %+v, another %+v", a, again, other)
	}
	if m := p.database(":memory:", true); m.ledger != nil {
		t.Error("a database in memory has a ledger")
	}
	if x, y := p.database("", false), p.database("", false); x.ledger == nil || x.ledger == y.ledger {
		t.Error("two connectors share a ledger, or have none")
	}
	for i := range 2 * maxDatabases {
		if db := p.database(string(rune('A'+i)), true); db.ledger == nil {
			t.Fatal("a database beyond the bounds has no ledger")
		}
	}
	if n := len(p.databases.byKey); n != maxDatabases {
		t.Errorf("databases kept: got %d, want %d", n, maxDatabases)
	}
	if pg := New(Options{System: "postgresql"}).database("postgres://h/db", true); pg.ledger != nil {
		t.Error("a PostgreSQL database has SQLite's write lock")
	}
}

// TestPairsBounds wants waits beyond the limit of pairs to be counted together.
func TestPairsBounds(t *testing.T) {
	p := New(Options{})
	w, err := p.Watch()
	if err != nil {
		t.Fatal(err)
	}
	ctx := probe.WithMethod(probe.WithRole(t.Context(), "request"), "m")
	waiter := p.series.Of(probe.LabelOf(ctx))
	for range maxPairs + 7 {
		p.pairs.waited(waiter, &series{probe: p, label: waiter.label}, 1000, 0)
	}
	waits, beyond := 0.0, 0.0
	r := w.Close()
	for m := range r.Find(descLockWaits.Name) {
		waits += m.Value
		if m.Attr(AttrHolder) == "(other)" {
			beyond += m.Value
		}
	}
	if waits != maxPairs+7 || beyond != 7 {
		t.Errorf("waits, those of (other): got %v, %v, want %d, 7", waits, beyond, maxPairs+7)
	}
}
