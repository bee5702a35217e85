package report

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
)

// An event with much evidence has a line that can be read: its text.
func TestEventEvidence(t *testing.T) {
	var core probe.Core
	w, err := core.Watch()
	if err != nil {
		t.Fatal(err)
	}
	few := []probe.Attr{{Key: "pause", Value: "1 ms"}}
	core.Emit(probe.Event{Name: "few", Text: "little", Attrs: few})
	var many []probe.Attr
	for range mostEvidence + 1 {
		many = append(many, few...)
	}
	core.Emit(probe.Event{Name: "many", Text: "stall 412 ms", Attrs: many})
	g := Of(w.Close()).eventGrid()
	got := []string{g.rows[0][4], g.rows[1][4]}
	if got[0] != "little pause=1 ms" || got[1] != "stall 412 ms" {
		t.Errorf("got %q, want the attributes of the first alone", got)
	}
}

// A stall that was emitted as ongoing and then completed is one line.
func TestEventCompleted(t *testing.T) {
	var core probe.Core
	w, err := core.Watch()
	if err != nil {
		t.Fatal(err)
	}
	id := core.Emit(probe.Event{Name: "stall", Text: "so far", Ongoing: true})
	core.Emit(probe.Event{Name: "stall", Text: "another"})
	core.Emit(probe.Event{ID: id, Name: "stall", Text: "over"})
	core.Emit(probe.Event{ID: id, Name: "stall", Text: "of another probe", Attrs: []probe.Attr{{Key: probe.AttrProbeName, Value: "b"}}})
	g := Of(w.Close()).eventGrid()
	var got []string
	for _, row := range g.rows {
		got = append(got, row[4])
	}
	want := []string{"over", "another", "of another probe name=b"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
