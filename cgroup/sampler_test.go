package cgroup

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// TestSampler: a spike that a sample falls into is seen, with the number of
// samples and the gap; one between two samples is not.
func TestSampler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		root := fixture(t, "v2")
		const usage = "sys/fs/cgroup/pod/leaf/memory.current"
		w := watch(t, New(Options{Root: root, Interval: 50 * time.Millisecond}))
		time.Sleep(60 * time.Millisecond)
		rewrite(t, root, usage, "300000000\n") // seen at 100 ms
		time.Sleep(60 * time.Millisecond)
		rewrite(t, root, usage, "310000000\n") // between 100 and 150 ms
		time.Sleep(20 * time.Millisecond)
		rewrite(t, root, usage, "1000\n")
		time.Sleep(160 * time.Millisecond) // until 300 ms
		synctest.Wait()
		v, prov := one(t, w.Close(), descGroupPeak)
		want := probe.Provenance{How: probe.Sampled, Method: "sampled", Samples: 7, MaxGap: 50 * time.Millisecond}
		if v != 300000000 || prov != want {
			t.Errorf("got %v, %+v, want 300000000, %+v", v, prov, want)
		}
	})
}

// TestSamplerEnds: the goroutine is gone when the last window is closed;
// synctest fails a test that leaves one behind. It runs for as many windows as
// there are, once.
func TestSamplerEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Options{Root: fixture(t, "v2")})
		for range 3 {
			a, b := watch(t, p), watch(t, p)
			if p.sampler == nil {
				t.Fatal("got no sampler though peaks have to be sampled")
			}
			a.Close()
			if p.sampler == nil {
				t.Error("got no sampler while a window is open")
			}
			b.Close()
			if p.sampler != nil {
				t.Error("got a sampler without a window")
			}
		}
	})
}

// TestNoSampler: without an interval there is no goroutine, and what it would
// have said of itself is absent; readings look all the same.
func TestNoSampler(t *testing.T) {
	p := New(Options{Root: fixture(t, "v2"), Interval: -1})
	w := watch(t, p)
	if p.sampler != nil {
		t.Error("got a sampler")
	}
	r := w.Close()
	for _, d := range []*probe.Desc{descInterval, descSamplerCPU} {
		if absent(r, d.Name) == "" {
			t.Errorf("got %s, want it absent", d.Name)
		}
	}
	if s, _ := StatsOf(r); s.Charge.Course.N != 2 {
		t.Errorf("got %d looks, want those of the window's two ends", s.Charge.Course.N)
	}
}

// TestSamplerReports: the sampler counts its samples and their distances, each
// window those that fell into it.
func TestSamplerReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Options{Root: fixture(t, "v2"), Interval: 50 * time.Millisecond})
		outer := watch(t, p)
		time.Sleep(260 * time.Millisecond)
		inner := watch(t, p)
		time.Sleep(250 * time.Millisecond)
		synctest.Wait()
		for what, tt := range map[string]struct {
			r *probe.Reading
			n uint64
		}{"inner": {inner.Close(), 5}, "outer": {outer.Close(), 10}} {
			for m := range tt.r.Find(descInterval.Name) {
				if m.Dist.Count() != tt.n || time.Duration(m.Dist.Max()) != 50*time.Millisecond {
					t.Errorf("%s: got %d samples, the longest gap %v; want %d and 50ms", what, m.Dist.Count(), time.Duration(m.Dist.Max()), tt.n)
				}
			}
			wantThere(t, tt.r, descInterval)
		}
	})
}
