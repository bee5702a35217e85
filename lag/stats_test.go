package lag

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
)

func TestStatsOfNothing(t *testing.T) {
	if s, ok := StatsOf(&probe.Reading{}); ok || s != (Stats{}) {
		t.Errorf("got %+v, %v from an empty reading, want false", s, ok)
	}
}

// Of several lag probes in a Set, the numbers of one are not mixed with
// another's.
func TestStatsOfSeveral(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := blind(Options{Name: "a"}), blind(Options{Name: "b", Interval: 10 * ms})
		w, err := probe.NewSet(a, b).Watch()
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		s := wantStats(t, w.Close())
		if s.Slots != 20 || s.Total.Count != 20 {
			t.Errorf("got %d slots, %d served, want 20 of each", s.Slots, s.Total.Count)
		}
	})
}

// A reading that went through a file has descriptions and distributions of its
// own.
func TestStatsOfReadBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := stalled(Options{}, map[int]time.Duration{4: 333 * ms})
		w := watch(t, p)
		time.Sleep(2 * time.Second)
		r := w.Close()
		want := wantStats(t, r)

		var back probe.Reading
		for _, m := range r.Metrics {
			desc := *m.Desc
			m.Desc = &desc
			if m.Dist != nil {
				d, err := probe.DistOf(m.Dist.HDR(), m.Dist.Sum(), m.Dist.Max(), m.Dist.Clamped())
				if err != nil {
					t.Fatal(err)
				}
				m.Dist = d
			}
			back.Metrics = append(back.Metrics, m)
		}
		if diff := cmp.Diff(want, wantStats(t, &back)); diff != "" {
			t.Errorf("read back (-want +got):\n%s", diff)
		}
	})
}
