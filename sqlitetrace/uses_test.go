package sqlitetrace

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
)

// TestUses charges a wait to all whose use of the connection it overlaps, as far
// back as is remembered.
func TestUses(t *testing.T) {
	p := New(Options{})
	w, err := p.Watch()
	if err != nil {
		t.Fatal(err)
	}
	var u uses
	none := p.pairs.forgotten
	u.charge(0, 1e9, none) // nobody yet
	for i := range int64(keptUses + 4) {
		ctx := probe.WithMethod(probe.WithRole(t.Context(), "request"), fmt.Sprint("m", i%2))
		u.add(p.series.Of(probe.LabelOf(ctx)), i*10e6, i*10e6+9e6)
	}
	const last = (keptUses+3)*10e6 + 9e6
	u.charge(last+1, last+5e6, none)  // began after everybody had ended
	u.charge(last-13e6, last+1, none) // 9 ms of the last, 3 ms of the one before
	u.charge(0, last, none)           // all that is remembered, 9 ms each, and the 39 ms of four that are not
	got := map[string]float64{}
	r := w.Close()
	for m := range r.Find(descOthersWaited.Name) {
		got[m.Attr(probe.AttrMethod)] = m.Value * 1000
	}
	want := map[string]float64{"m1": 9 + keptUses/2*9, "m0": 3 + keptUses/2*9, "(other)": 39}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ms (-want +got):\n%s", diff)
	}
}
