package sqlitetrace_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// TestHash wants arguments to be told apart by name, type and value, and texts by
// their literals.
func TestHash(t *testing.T) {
	p := sqlitetrace.New(sqlitetrace.Options{Statements: 10})
	now := time.Now()
	type text string
	different := [][]driver.NamedValue{
		nil,
		{{Ordinal: 1}},
		{{Ordinal: 1}, {Ordinal: 2}},
		{{Ordinal: 1, Value: int64(1)}},
		{{Ordinal: 1, Value: int64(2)}},
		{{Ordinal: 1, Value: uint64(1)}},
		{{Ordinal: 1, Value: 1.0}},
		{{Ordinal: 1, Value: true}},
		{{Ordinal: 1, Value: false}},
		{{Ordinal: 1, Value: "1"}},
		{{Ordinal: 1, Value: []byte("1")}},
		{{Ordinal: 1, Value: ""}},
		{{Ordinal: 1, Value: now}},
		{{Ordinal: 1, Value: now.Add(1)}},
		{{Name: "a", Value: "1"}},
		{{Name: "b", Value: "1"}},
		{{Ordinal: 1, Value: "12"}, {Ordinal: 2, Value: "3"}},
		{{Ordinal: 1, Value: "1"}, {Ordinal: 2, Value: "23"}},
	}
	seen := map[string]int{}
	for i, args := range different {
		h := p.Hash("SELECT ?", args)
		if j, ok := seen[h]; ok || h == "" {
			t.Errorf("%v: hash %q, which %v has too", args, h, different[j])
		}
		seen[h] = i
		if again := p.Hash("SELECT ?", args); again != h {
			t.Errorf("%v: hashes %q and %q", args, h, again)
		}
	}
	if a, b := p.Hash("SELECT 1", nil), p.Hash("SELECT 2", nil); a == b {
		t.Errorf("two literals have one hash, %s", a)
	}
	if a, b := p.Hash("", []driver.NamedValue{{Value: text("x")}}), p.Hash("", []driver.NamedValue{{Value: "x"}}); a != b {
		t.Errorf("a text has hash %s, its own type %s", b, a)
	}
	if h := p.Hash("", []driver.NamedValue{{Value: &now}}); h != "" {
		t.Errorf("got hash %s of what is not looked at, want none", h)
	}
}

// TestEach executes in every way that there is, and wants each statement to be
// counted by text, place and arguments, and by nothing that it does not show.
func TestEach(t *testing.T) {
	for name, exec := range map[string]func(ctx context.Context, db *sql.DB, query string, args ...any) error{
		"Exec": func(ctx context.Context, db *sql.DB, query string, args ...any) error {
			_, err := db.ExecContext(ctx, query, args...)
			return err
		},
		"Query": func(ctx context.Context, db *sql.DB, query string, args ...any) error {
			rows, err := db.QueryContext(ctx, query, args...)
			if err == nil {
				err = rows.Close()
			}
			return err
		},
		"prepared": func(ctx context.Context, db *sql.DB, query string, args ...any) error {
			s, err := db.PrepareContext(ctx, query)
			if err != nil {
				return err
			}
			defer s.Close()
			_, err = s.ExecContext(ctx, args...)
			return err
		},
		"transaction": func(ctx context.Context, db *sql.DB, query string, args ...any) error {
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				return err
			}
			defer tx.Rollback()
			_, err = tx.ExecContext(ctx, query, args...)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := sqlitetrace.New(sqlitetrace.Options{Statements: 10})
			db := p.OpenDB(&server{})
			defer db.Close()
			w, ctx := watch(t, p), labelled("Store.Get")
			for _, arg := range []string{"secret", "secret", "another"} {
				if err := exec(ctx, db, "DELETE FROM t WHERE a = 'hidden' AND b = ?", arg); err != nil {
					t.Fatal(err)
				}
			}
			got := map[string]int{}
			for m := range w.Close().Find("tidestaff.db.statements") {
				if s := fmt.Sprint(m.Attrs); strings.Contains(s, "secret") || strings.Contains(s, "hidden") {
					t.Errorf("an argument or a literal is shown: %s", s)
				}
				if line := m.Attr(sqlitetrace.AttrCallSite); !strings.HasPrefix(line, "each_test.go:") {
					t.Errorf("got line %q, want one of this file", line)
				}
				got[m.Attr(probe.AttrMethod)+" "+m.Attr(probe.AttrRole)+" "+m.Attr(sqlitetrace.AttrQueryText)+" "+fmt.Sprint(len(m.Attr(sqlitetrace.AttrArguments)) > 0, m.Value)]++
			}
			const text = "Store.Get request DELETE FROM t WHERE a = ? AND b = ? true "
			if diff := cmp.Diff(map[string]int{text + "2": 1, text + "1": 1}, got); diff != "" {
				t.Errorf("statements (-want +got):\n%s", diff)
			}
		})
	}
}

// TestEachBounds wants what is beyond the limit to be counted together, and nothing
// at all to be counted without one.
func TestEachBounds(t *testing.T) {
	for limit, want := range map[int]map[string]float64{0: {}, 2: {"SELECT ?": 2, "(other)": 3}} {
		p := sqlitetrace.New(sqlitetrace.Options{Statements: limit})
		db := p.OpenDB(&server{})
		defer db.Close()
		w := watch(t, p)
		for i := range 5 {
			read(t, db, labelled("Store.Get"), fmt.Sprintf("SELECT %d", i))
		}
		got := map[string]float64{}
		for m := range w.Close().Find("tidestaff.db.statements") {
			if !m.Detail {
				t.Error("statements are no detail: they could leave the process by themselves")
			}
			got[m.Attr(sqlitetrace.AttrQueryText)] += m.Value
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d: statements (-want +got):\n%s", limit, diff)
		}
	}
}
