package report

import (
	"fmt"
	"testing"

	"github.com/tidestaff/tidestaff/probe"
)

// What a file probe did not see is a sentence, with the paths opened most often
// first; a path of which nothing went around it is not among them.
func TestAroundText(t *testing.T) {
	d := &probe.Desc{Name: metricAround, Unit: "{open}", Kind: probe.KindCounter, Detail: true, Help: "x"}
	for want, paths := range map[string][]int64{
		"no open is known to have gone around the probe": {0, 0},
		"1 open went around the probe: p01":              {0, 1},
		"6 opens went around the probe: p01 (5), p02":    {0, 5, 1},
		"24 opens went around the probe: p00 (2), p01 (2), p02 (2), p03 (2), p04 (2), p05 (2), p06 (2), p07 (2), p08 (2), p09 (2) and 2 more": {2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2},
	} {
		var core probe.Core
		w, err := core.Watch()
		if err != nil {
			t.Fatal(err)
		}
		for i, n := range paths {
			core.Counter(d, probe.Attr{Key: "tidestaff.file.path", Value: fmt.Sprintf("p%02d", i)}).Add(n)
		}
		g := Of(w.Close()).details()[0]
		if g.notes[0] != want {
			t.Errorf("got %q, want %q", g.notes[0], want)
		}
		for _, row := range g.rows {
			if row[5] == "0" {
				t.Errorf("%s: got the row %q", want, row)
			}
		}
	}
}
