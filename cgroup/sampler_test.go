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
