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
		name   string
		key    string
		txlock txlock
	}{
		{file, real, txlockDefault},
		{"a b.db", real, txlockDefault},
		{"./a b.db?_txlock=immediate&_pragma=journal_mode(WAL)", real, txlockAtOnce},
		{"file:a%20b.db?_txlock=EXCLUSIVE", real, txlockAtOnce},
		{"file:///" + slashed + "?_txlock=deferred", real, txlockLater},
		{"file://localhost/" + slashed, real, txlockDefault},
		{"link/a b.db", real, txlockDefault},
		{"link/new/deep/a.db", filepath.Join(filepath.Dir(real), "new/deep/a.db"), txlockDefault},
		{"file:a%20b.db#part?mode=memory", real, txlockDefault},
		{"a b.db?mode=memory", real, txlockDefault}, // drivers cut the mode off a plain name
		{"/a?vfs=memdb", "", txlockDefault},
		{"a b.db?_pragma=query_only(1)", real, txlockLater},
		{":memory:", "", txlockDefault},
		{"", "", txlockDefault},
		{"file::memory:?cache=shared", "", txlockDefault},
		{"file:a?mode=memory&cache=shared&_txlock=immediate", "", txlockAtOnce},
		{"file:/a?vfs=memdb", "", txlockDefault},
	} {
		if d := parseDSN(tc.name); d.key != tc.key || d.txlock != tc.txlock {
			t.Errorf("%q: got %+v, want key %q, txlock %v", tc.name, d, tc.key, tc.txlock)
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
	a, again, b := p.database("a.db", true), p.database("file:a.db?_txlock=immediate", true), p.database("b.db", true)
	if a.ledger != again.ledger || a.ledger == b.ledger || a.txlock != txlockDefault || again.txlock != txlockAtOnce {
		t.Errorf("one file by two names: got %+v, %+v, another %+v", a, again, b)
	}
	if m := p.database(":memory:", true); m.ledger != nil {
		t.Error("a database in memory has a ledger")
	}
	if x, y := p.database("", false), p.database("", false); x.ledger == nil || x.ledger == y.ledger {
		t.Error("two connectors share a ledger, or have none")
	}
	if ro := p.database("file:a.db?mode=ro&_txlock=immediate", true); ro.ledger != nil || ro.name != a.name {
		t.Errorf("read-only: got %+v, want the same name and no ledger", ro)
	}
	names := map[string]bool{}
	for i := range 2 * maxDatabases {
		db := p.database(string(rune('A'+i)), true)
		if db.ledger == nil {
			t.Fatal("a database beyond the bounds has no ledger")
		}
		names[db.name] = true
	}
	if n := len(p.databases.byKey); n != maxDatabases {
		t.Errorf("databases kept: got %d, want %d", n, maxDatabases)
	}
	if len(names) > maxDatabases || !names[other] {
		t.Errorf("got %d names of databases, want at most %d and %s among them", len(names), maxDatabases, other)
	}
}

// TestDatabaseUnread wants nothing of a dsn that is not SQLite's in a metric.
func TestDatabaseUnread(t *testing.T) {
	p := New(Options{System: "postgresql"})
	for _, name := range []string{"host=db user=app password=secret dbname=app", "postgres://app:secret@db", "app:secret@tcp(db)/app?x=y"} {
		db := p.database(name, true)
		if db.ledger != nil || db.name != unnamed || db.dsn != (dsn{}) {
			t.Errorf("%q: got name %q, %+v, want nothing known", name, db.name, db)
		}
	}
	if len(p.databases.byKey) != 0 {
		t.Errorf("got files %v, want none", p.databases.byKey)
	}
}

// TestDatabasesByKey wants Options.DBKey to decide what shares a lock, and not
// what is shown.
func TestDatabasesByKey(t *testing.T) {
	p := New(Options{DBKey: func(dsn string) string { key, _, _ := strings.Cut(dsn, ":"); return key }})
	a, b, none := p.database("x:a", true), p.database("x:b", true), p.database(":c", true)
	if a.ledger == nil || a.ledger != b.ledger || none.ledger != nil {
		t.Errorf("got ledgers %p, %p, %p, want one for the same key, none for an empty one", a.ledger, b.ledger, none.ledger)
	}
	for range 2 * maxDatabases {
		if db := p.database("", false); db.ledger == nil || db.name != unnamed {
			t.Errorf("a connector: got %q, ledger %p, want %q and one of its own", db.name, db.ledger, unnamed)
		}
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
