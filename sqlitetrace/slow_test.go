package sqlitetrace_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// TestSlow makes events of what is slow and of nothing else, without a literal.
func TestSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &lockFile{}
		p := sqlitetrace.New(sqlitetrace.Options{Name: "main", Slow: 2 * time.Millisecond, DBKey: func(string) string { return "file" }})
		db := p.OpenDB(f)
		defer db.Close()
		w := watch(t, p)
		db.ExecContext(labelled("quick"), "INSERT 1ms")
		db.ExecContext(labelled("Put"), "INSERT 5ms")
		rows, _ := db.QueryContext(labelled("List"), "SELECT 3ms")
		time.Sleep(10 * time.Millisecond)
		rows.Close()
		db.ExecContext(labelled("Fail"), "INSERT upgrade")
		hold(db, "Save", 3*time.Millisecond) // its statement and its commit take 2 ms each
		go hold(db, "Save", 20*time.Millisecond)
		time.Sleep(time.Millisecond)
		db.ExecContext(labelled("Wait"), "INSERT 0ms")
		r := w.Close()
		type slow struct {
			Text, Cause string
			Duration    time.Duration
			Attrs       string
		}
		var got []slow
		for _, e := range r.Events {
			s := slow{e.Text, e.Cause, e.Duration, ""}
			for _, a := range e.Attrs {
				switch a.Key {
				case sqlitetrace.AttrSystem, probe.AttrMethod, probe.AttrRole, probe.AttrProbeName, sqlitetrace.AttrQueryText, sqlitetrace.AttrOperation:
				default:
					s.Attrs += a.Key[len("tidestaff.db."):] + "=" + a.Value + " "
				}
			}
			if e.Name != "tidestaff.db.slow" || e.Start.Add(e.Duration).After(time.Now()) {
				t.Errorf("event: got %+v", e)
			}
			got = append(got, s)
		}
		const commit, insert = "Save (request) was in the driver for 2ms: COMMIT", "Insert (request) was in the driver for 2ms: INSERT ?"
		msec := time.Millisecond
		want := []slow{
			{"Put (request) was in the driver for 5ms: INSERT ?", "", 5 * msec, "call=0.005 "},
			{"List (request) was in the driver for 3ms: SELECT ?", "", 13 * msec, "call=0 step=0 close=0.003 idle=0.01 rows=0 "},
			{insert, "", 2 * msec, "call=0.002 "}, {commit, "", 2 * msec, "call=0.002 "},
			{insert, "", 2 * msec, "call=0.002 "}, {commit, "", 2 * msec, "call=0.002 "},
			{"Wait (request) was in the driver for 33ms: INSERT ?", "write lock", 33 * msec, "call=0.033 lock_wait=0.033 "},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}
