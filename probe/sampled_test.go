package probe

import (
	"testing"
)

// provs are the provenances of a reading's metrics by name.
func provs(r *Reading) map[string]Provenance {
	got := map[string]Provenance{}
	for i := range r.Metrics {
		got[r.Metrics[i].Name] = r.Metrics[i].Prov
	}
	return got
}

// TestSampledBy plays estimates and exact values to nested and tiled windows.
func TestSampledBy(t *testing.T) {
	var c Core
	var samples Counter
	took := c.Counter(&Desc{Name: "took", Unit: "s", Help: "x"})
	each := c.Recorder(&Desc{Name: "each", Unit: "s", Help: "x"})
	calls := c.Counter(&Desc{Name: "calls", Unit: "{call}", Help: "x"})
	took.SampledBy(&samples)
	each.SampledBy(&samples)
	call := func(n int64) {
		samples.Add(n)
		took.Add(1e9)
		each.Record(1e9)
		calls.Add(1)
	}
	want := func(what string, r *Reading, n uint64) {
		t.Helper()
		prov := Provenance{}
		if n > 0 {
			prov = Provenance{How: Sampled, Samples: n}
		}
		for name, got := range provs(r) {
			expected := prov
			if name == "calls" {
				expected = Provenance{}
			}
			if got != expected {
				t.Errorf("%s: %s: got %+v, want %+v", what, name, got, expected)
			}
		}
		if len(r.Metrics) != 3 {
			t.Errorf("%s: got %d metrics, want 3", what, len(r.Metrics))
		}
	}
	call(5) // before any window
	outer, err := c.Watch()
	if err != nil {
		t.Fatal(err)
	}
	var r Reading
	call(0)
	outer.Read(&r)
	want("exact so far", &r, 0)
	inner, err := c.Watch()
	if err != nil {
		t.Fatal(err)
	}
	call(7)
	inner.Next(&r)
	want("an interval with an estimate", &r, 7)
	call(0)
	inner.Next(&r)
	want("one without", &r, 0)
	call(2)
	want("the inner window", inner.Close(), 2)
	want("the outer window", outer.Close(), 9)
}

// TestSampledByCosts nothing to who counts.
func TestSampledByCosts(t *testing.T) {
	var c Counter
	var rec Recorder
	var samples Counter
	c.SampledBy(&samples)
	rec.SampledBy(&samples)
	rec.Record(1)
	if n := testing.AllocsPerRun(100, func() { samples.Add(1); c.Add(1); rec.Record(1) }); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}
