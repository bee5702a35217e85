package fsstat

import (
	"fmt"
	"testing"
)

func TestGapWords(t *testing.T) {
	many := Gap{}
	for i := range 15 {
		many.add(fmt.Sprintf("p%02d", i), 2)
	}
	many.add("p00", 0)
	many.add("p00", -1)
	for want, g := range map[string]Gap{
		"no open went around the probe":              {},
		"1 open went around the probe: x":            {Opens: 1, Paths: map[string]int64{"x": 1}},
		"5 opens went around the probe: b (3), a, c": {Opens: 5, Paths: map[string]int64{"a": 1, "b": 3, "c": 1}},
		"30 opens went around the probe: p00 (2), p01 (2), p02 (2), p03 (2), p04 (2), p05 (2), p06 (2), p07 (2), p08 (2), p09 (2) and 5 more": many,
		"it is not known that no open went around the probe: why":                                                                             {Reason: "why"},
		"1 open went around the probe: x; there may be more: why":                                                                             {Opens: 1, Paths: map[string]int64{"x": 1}, Reason: "why"},
	} {
		if got := g.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
