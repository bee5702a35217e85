package probetest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
)

// failures are the texts of failures, each in a golden file.
var failures = []struct {
	name    string
	n       int
	fill    func(*ledger)
	budgets []Budget
}{
	{"queries", 1, func(l *ledger) {
		for i := range 6 {
			l.run(1, hashed(get, i, "fleet.go:88"))
		}
		l.run(5, hashed(tokens, 0, "auth.go:120"))
		l.run(3, hashed(query{text: "SELECT name,\n       value\nFROM settings\nWHERE name IN (?, ?, ?) AND scope = ? AND deleted_at IS NULL ORDER BY name",
			method: "(*Store).Settings"}, 1, "settings.go:12"))
		l.run(2, hashed(tick, 1, "lease.go:7"))
	}, []Budget{AtMost("queries/op", 8).In("request"), NoFullScans(), NoDuplicates("settings"), NoNPlusOne()}},

	// Of events the arguments and the places are not known, but the times are.
	{"events", 10, func(l *ledger) {
		l.run(30, get)
		l.run(10, tokens)
	}, []Budget{Exactly("queries/op", 1), NoFullScans("tokens"), NoDuplicates()}},

	// Without either there are methods.
	{"methods", 1, func(l *ledger) { l.query(12) }, []Budget{AtMost("queries/op", 8), NoDuplicates()}},

	{"many", 1, func(l *ledger) {
		for i := range 30 {
			l.run(1+i%2, query{text: fmt.Sprintf("SELECT * FROM t%02d", i), method: "(*Store).All"})
		}
	}, []Budget{AtMost("queries/op", 8)}},

	{"files", 1, func(l *ledger) {
		for i, path := range []string{"run/3.log", "run/17.log"} {
			at := probe.Attr{Key: attrPath, Value: path}
			for _, op := range []string{"read", "open"} {
				n := int64(1 + i)
				l.Counter(testOps, probe.Attr{Key: attrFileOperation, Value: op}).Add(n)
				l.Counter(testPaths, probe.Attr{Key: attrFileOperation, Value: op}, at).Add(n)
			}
			l.Counter(testPathIO, probe.Attr{Key: attrDirection, Value: "read"}, at).Add(35_000)
			l.Counter(testUnchanged, at).Add(int64(i))
		}
		l.Counter(testBytes, probe.Attr{Key: "disk.io.direction", Value: "read"}).Add(70_000)
	}, []Budget{NoFileReads()}},

	{"nothing", 1, func(*ledger) {}, []Budget{AtMost("queries/op", 8), NoFullScans(), NoDuplicates(), NoFileReads(), NoReadsAround(nil)}},
}

// texts are descriptions without a time, which would differ from run to run.
var texts = []*probe.Desc{testQueries, testScans, testPlans, testStatements, testOps, testBytes, testPaths, testPathIO, testUnchanged}

func TestFailureTexts(t *testing.T) {
	for _, f := range failures {
		t.Run(f.name, func(t *testing.T) {
			l := newLedger(texts...)
			w, err := l.Watch()
			if err != nil {
				t.Fatal(err)
			}
			f.fill(l)
			tr := trialOf(f.n, w.Close(), noise{}, texts...)
			golden(t, f.name, tr.message(tr.judge(f.budgets), exceeded, lacking))
		})
	}
}

// golden compares a text with a file, or writes the file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if updating() {
		if err := os.WriteFile(file, []byte(got+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v: run the test with -update", err)
	}
	if diff := cmp.Diff(string(want), got+"\n"); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// TestTextsAreStable: the order of what was executed does not matter, and neither
// do times.
func TestTextsAreStable(t *testing.T) {
	text := func(order []int, took time.Duration) string {
		l := newLedger(texts...)
		w, err := l.Watch()
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range order {
			q := query{text: fmt.Sprint("SELECT ", 'a'+i), method: fmt.Sprint("m", i%3)}
			l.run(1+i%2, q)
		}
		r := w.Close()
		for i := range r.Events {
			r.Events[i].Duration = took * time.Duration(1+i)
		}
		tr := trialOf(1, r, noise{}, texts...)
		return tr.message(tr.judge([]Budget{AtMost("queries/op", 1)}), exceeded)
	}
	order := []int{0, 1, 2, 3, 4, 5, 6, 7}
	forth := text(order, 0)
	slices.Reverse(order)
	if back := text(order, 0); back != forth {
		t.Errorf("another order gives another text:\n%s\n%s", forth, back)
	}
	names := func(text string) (all []string) {
		for line := range strings.Lines(text) {
			if f := strings.Fields(line); len(f) > 2 && f[1] == "SELECT" {
				all = append(all, f[2])
			}
		}
		return all
	}
	if diff := cmp.Diff(names(forth), names(text(order, time.Hour))); diff != "" || len(names(forth)) != 8 {
		t.Errorf("times change the order:\n%s", diff)
	}
}

func TestBetween(t *testing.T) {
	from := look{busy: 10 * time.Second, steal: time.Second, capacity: 100 * time.Second, own: 2 * time.Second}
	to := look{busy: 11 * time.Second, steal: 1100 * time.Millisecond, capacity: 102 * time.Second, own: 2600 * time.Millisecond}
	n := between(from, to)
	if n.others != 0.2 || n.steal != 0.05 || n.err != nil {
		t.Errorf("got %+v, want others 0.2 and steal 0.05", n)
	}
	to.own = 4 * time.Second // the kernel's steps lag behind the process's clock
	if n := between(from, to); n.others != 0 {
		t.Errorf("others = %v, want none and not less", n.others)
	}
	if n := between(from, from); n.err == nil || n.disturbs() == "" {
		t.Errorf("no time has passed: got %+v", n)
	}
}

// TestSinceLook: if nobody can tell yet, it waits until somebody can.
func TestSinceLook(t *testing.T) {
	from := lookAtHost()
	if from.err != nil {
		if n := sinceLook(from); n.err == nil {
			t.Errorf("got %+v, want the error %v", n, from.err)
		}
		return
	}
	if n := sinceLook(from); n.err != nil || n.others < 0 || n.others > 1 {
		t.Errorf("got %+v, want shares", n)
	}
}

func TestSnapshot(t *testing.T) {
	file := filepath.Join(t.TempDir(), "deep", "list.sql.txt")
	lines := []string{"1x (*Store).Get (request): SELECT 1", "5x (*Store).Tokens (request): SELECT * FROM tokens -- FULL SCAN"}
	wantError(t, compare(file, lines, false), "does not exist: run the test with -update")
	wantError(t, compare(file, lines, true), "")
	wantError(t, compare(file, lines, false), "")
	b, err := os.ReadFile(file)
	if err != nil || string(b) != strings.Join(lines, "\n")+"\n" {
		t.Errorf("got %q, %v, want the lines", b, err)
	}
	err = compare(file, append(lines[:1:1], "6x (*Store).Tokens (request): SELECT * FROM tokens"), false)
	wantError(t, err, "(- there, + now):\n  -5x (*Store).Tokens (request): SELECT * FROM tokens -- FULL SCAN\n  +6x (*Store).Tokens (request): SELECT * FROM tokens\n")
	slices.Reverse(lines)
	wantError(t, compare(file, lines, false), "in another order")
	wantError(t, compare(filepath.Join(file, "no"), nil, false), "not a directory")
}

// TestSnapshotOf: from the statements to the file, in an order of its own.
func TestSnapshotOf(t *testing.T) {
	l := database()
	file := filepath.Join(t.TempDir(), "list.sql.txt")
	op := func() { l.run(3, tokens); l.run(1, get); l.run(2, tick) }
	j := &judged{TB: t}
	Snapshot(j, l, file, op)
	if updating() {
		return
	}
	if len(j.errors) != 1 || !strings.Contains(j.errors[0], "does not exist") {
		t.Fatalf("got %q", j.errors)
	}
	t.Setenv(updateVar, "1")
	Snapshot(t, l, file, op)
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := `1x (*Store).Get (request): SELECT * FROM sandboxes WHERE id = ?
3x (*Store).Tokens (request): SELECT * FROM tokens -- FULL SCAN
2x (*Store).Tick (background:lease): UPDATE leases SET at = ?
`
	if diff := cmp.Diff(want, string(b)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	none := &judged{TB: t}
	Snapshot(none, l, file, func() { l.query(1) })
	if len(none.errors) != 1 || !strings.Contains(none.errors[0], "snapshot: no data: the texts of 0 of 1") {
		t.Errorf("without texts: got %q", none.errors)
	}
}
