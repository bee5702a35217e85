package fsstat

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGapWords(t *testing.T) {
	many := Gap{}
	for i := range 15 {
		many.add(fmt.Sprintf("p%02d", i), 2)
	}
	for want, g := range map[string]Gap{
		"no open went around the probe":              {},
		"1 open went around the probe: x":            {1, map[string]int64{"x": 1}},
		"5 opens went around the probe: b (3), a, c": {5, map[string]int64{"a": 1, "b": 3, "c": 1}},
		"30 opens went around the probe: p00 (2), p01 (2), p02 (2), p03 (2), p04 (2), p05 (2), p06 (2), p07 (2), p08 (2), p09 (2) and 5 more": many,
	} {
		if got := g.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestGapOf(t *testing.T) {
	p := New(Options{})
	s := Stats{Paths: []PathCounts{{Path: "a", Counts: Counts{Opens: 2}}, {Path: "b", Counts: Counts{Opens: 1}}}}
	got, err := GapOf(p, map[string]int64{"a": 2, "./a": 1, "b": 1, "c": 1}, s)
	if want := (Gap{2, map[string]int64{"a": 1, "c": 1}}); err != nil || !cmp.Equal(got, want) {
		t.Errorf("got %v, error %v, want %v", got, err, want)
	}
	s.Paths = append(s.Paths, PathCounts{Path: other, Counts: Counts{Opens: 7}})
	if _, err := GapOf(p, nil, s); err == nil {
		t.Error("paths that are not told apart are no error")
	}
}
