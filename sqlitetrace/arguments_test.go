package sqlitetrace_test

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// parametersOf are the arguments that an event shows.
func parametersOf(e probe.Event) string {
	var b strings.Builder
	for _, a := range e.Attrs {
		if key, ok := strings.CutPrefix(a.Key, sqlitetrace.AttrParameter); ok {
			fmt.Fprintf(&b, "%s=%s ", key, a.Value)
		}
	}
	return strings.TrimSuffix(b.String(), " ")
}

// TestShowArguments shows the arguments of what was slow, whichever way it was
// executed, as they were in the call.
func TestShowArguments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sqlitetrace.New(sqlitetrace.Options{Slow: 2 * time.Millisecond, ShowArguments: true})
		db := p.OpenDB(&lockFile{})
		defer db.Close()
		w := watch(t, p)
		ctx := labelled("m")
		db.ExecContext(ctx, "INSERT 1ms", "quick")
		db.ExecContext(ctx, "INSERT 5ms", "ann", int64(7), nil, true, 1.5, time.Unix(0, 0).UTC(), []byte("hi"), sql.Named("x", "y"))
		blob := []byte("old")
		rows, err := db.QueryContext(ctx, "SELECT 3ms", blob, "of a query")
		if err != nil {
			t.Fatal(err)
		}
		copy(blob, "new")
		rows.Close() // its work is done in it
		stmt, err := db.PrepareContext(ctx, "INSERT 5ms")
		if err != nil {
			t.Fatal(err)
		}
		defer stmt.Close()
		stmt.ExecContext(ctx, "prepared")
		rows, err = stmt.QueryContext(ctx, "prepared query")
		if err != nil {
			t.Fatal(err)
		}
		rows.Close()
		c, err := p.Connector(&lockFile{}).Connect(ctx)
		if err != nil {
			t.Fatal(err)
		}
		prepared, err := c.Prepare("INSERT 5ms")
		if err != nil {
			t.Fatal(err)
		}
		// The methods without a context, which are deprecated for all but old programs.
		old := prepared.(interface {
			Exec([]driver.Value) (driver.Result, error)
			Query([]driver.Value) (driver.Rows, error)
		})
		old.Exec([]driver.Value{"old exec"})
		if rows, err := old.Query([]driver.Value{"old query"}); err == nil {
			rows.Close()
		}
		db.ExecContext(ctx, "INSERT 5ms")
		var got []string
		for _, e := range w.Close().Events {
			got = append(got, parametersOf(e))
		}
		want := []string{
			`0="ann" 1=7 2=NULL 3=true 4=1.5 5=1970-01-01T00:00:00Z 6=x'6869' x="y"`,
			`0=x'6f6c64' 1="of a query"`, `0="prepared"`, `0="prepared query"`, `0="old exec"`, `0="old query"`, "",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("arguments (-want +got):\n%s", diff)
		}
	})
}

// A touchy is an argument that only a driver knows.
type touchy struct{ secret string }

func (touchy) String() string                { panic("asked for its text") }
func (touchy) Value() (driver.Value, error)  { panic("asked for its value") }
func (touchy) Format(f fmt.State, verb rune) { panic("formatted") }

// TestArgumentBounds cuts long arguments and many of them, of an Exec and of a
// query, and asks nothing of those that only a driver knows.
func TestArgumentBounds(t *testing.T) {
	args := []driver.NamedValue{
		{Value: strings.Repeat("a", 64)}, {Value: strings.Repeat("a", 65)}, {Value: strings.Repeat("a", 62) + "日本"},
		{Value: make([]byte, 32)}, {Value: make([]byte, 100)}, {Value: touchy{"x"}}, {Value: &touchy{"x"}}, {Value: "\x00\xff"},
	}
	var want strings.Builder
	want.WriteString(`0="` + strings.Repeat("a", 64) + `" 1="` + strings.Repeat("a", 64) + `"… 2="` + strings.Repeat("a", 62) + `"…` +
		" 3=x'" + strings.Repeat("00", 32) + "' 4=x'" + strings.Repeat("00", 32) + "'… 5=(sqlitetrace_test.touchy) 6=(*sqlitetrace_test.touchy)" +
		` 7="\x00\xff"`)
	for i := range 8 {
		args = append(args, driver.NamedValue{Value: int64(i)})
		fmt.Fprintf(&want, " %d=%d", 8+i, i)
	}
	all := append(args, driver.NamedValue{Value: "one too many"}, driver.NamedValue{Value: "and another"})
	for n, want := range map[int]string{16: want.String(), 17: want.String() + " 16=…", 18: want.String() + " 16=…", 0: ""} {
		p := sqlitetrace.New(sqlitetrace.Options{Slow: 1, ShowArguments: true})
		w := watch(t, p)
		c, err := p.Connector(&server{shape: shape{conn: "EQ"}, quiet: true}).Connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		c.(driver.ExecerContext).ExecContext(t.Context(), "plain", all[:n])
		if rows, err := c.(driver.QueryerContext).QueryContext(t.Context(), "rows 1", all[:n]); err == nil {
			rows.Close()
		}
		events := w.Close().Events
		if len(events) != 2 {
			t.Fatalf("%d arguments: got %d events, want 2", n, len(events))
		}
		for _, e := range events {
			if diff := cmp.Diff(want, parametersOf(e)); diff != "" {
				t.Errorf("%d arguments (-want +got):\n%s", n, diff)
			}
		}
	}
}

// everything is all that a probe says, as text.
func everything(p *sqlitetrace.Probe, r *probe.Reading) string {
	var b strings.Builder
	for _, m := range r.Metrics {
		fmt.Fprintln(&b, *m.Desc, m.Attrs)
	}
	for _, e := range r.Events {
		fmt.Fprintln(&b, e.Name, e.Cause, e.Text, e.Attrs)
	}
	fmt.Fprintf(&b, "%+v\n%+v\n%+v\n", r.Absent, p.Held(), p.Overlapping(nil, time.Hour))
	return b.String()
}

// TestArgumentsNowhere looks for an argument in all that a probe says, in the
// middle and at the end: there is none unless it was asked for, and then only in
// the events.
func TestArgumentsNowhere(t *testing.T) {
	const secret = "hunter2"
	for name, tc := range map[string]struct {
		options sqlitetrace.Options
		shown   bool
	}{
		"default":         {sqlitetrace.Options{}, false},
		"slow":            {sqlitetrace.Options{Slow: 1}, false},
		"slow, plans":     {sqlitetrace.Options{Slow: 1, Plans: sqlitetrace.PlansOnce}, false},
		"asked, no slow":  {sqlitetrace.Options{ShowArguments: true}, false},
		"asked, not slow": {sqlitetrace.Options{ShowArguments: true, Slow: time.Hour}, false},
		"asked":           {sqlitetrace.Options{ShowArguments: true, Slow: 1}, true},
	} {
		t.Run(name, func(t *testing.T) {
			p := sqlitetrace.New(tc.options)
			w := watch(t, p)
			ctx, said := labelled("m"), ""
			for _, conn := range []string{"EQB", "eq", "PCBN"} { // direct, of the old kind, always prepared
				db := p.OpenDB(&server{shape: shape{conn: conn}, explain: func() error { return errors.New("no") }})
				for _, query := range []string{"plain", "fail", "busy", "skip", "INSERT nothing"} {
					db.ExecContext(ctx, query, secret)
				}
				rows, err := db.QueryContext(ctx, "rows 3", secret)
				if err != nil {
					t.Fatal(err)
				}
				rows.Next()
				said += everything(p, new(probe.Reading))
				rows.Close()
				tx, err := db.BeginTx(ctx, nil)
				if err != nil {
					t.Fatal(err)
				}
				tx.ExecContext(ctx, "fail", secret)
				tx.Rollback()
				db.Close()
			}
			r := w.Close()
			events := 0
			for _, e := range r.Events {
				if strings.Contains(parametersOf(e), secret) {
					events++
				}
			}
			if tc.shown {
				if want := 3 * 7; events != want {
					t.Errorf("events that show an argument: got %d, want %d", events, want)
				}
				r.Events = nil
			}
			if said += everything(p, r); strings.Contains(said, secret) {
				t.Errorf("an argument is in what the probe says:\n%s", said)
			}
		})
	}
}

// TestArgumentAllocations has arguments asked for and nothing slow: an Exec
// allocates nothing for them, a query one copy.
func TestArgumentAllocations(t *testing.T) {
	ctx := labelled("m")
	measure := func(shows bool, run func(driver.Conn, []driver.NamedValue)) float64 {
		p := sqlitetrace.New(sqlitetrace.Options{Slow: time.Hour, ShowArguments: shows})
		watch(t, p)
		c, err := p.Connector(&server{shape: shape{conn: "EQ"}, quiet: true}).Connect(ctx)
		if err != nil {
			t.Fatal(err)
		}
		args := []driver.NamedValue{{Ordinal: 1, Value: "a"}, {Ordinal: 2, Value: int64(1 << 40)}}
		return testing.AllocsPerRun(200, func() { run(c, args) })
	}
	exec := func(c driver.Conn, args []driver.NamedValue) {
		c.(driver.ExecerContext).ExecContext(ctx, "plain", args)
	}
	query := func(c driver.Conn, args []driver.NamedValue) {
		if rows, err := c.(driver.QueryerContext).QueryContext(ctx, "rows 1", args); err == nil {
			rows.Close()
		}
	}
	if got := measure(true, exec) - measure(false, exec); got != 0 {
		t.Errorf("exec: got %v allocations more, want 0", got)
	}
	if got := measure(true, query) - measure(false, query); got != 1 {
		t.Errorf("query: got %v allocations more, want 1", got)
	}
}
