package spikes

import (
	"context"
	"errors"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// TestStudy is a small one. What the samples miss is theirs to miss; the exact
// ways see each spike, and every label is as it should be.
func TestStudy(t *testing.T) {
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		t.Skipf("needs a high-water mark that can be set back: %v", err)
	}
	s := Study{Spikes: 6, Seed: 1, Slot: 150 * time.Millisecond, MaxHold: 60 * time.Millisecond}
	r, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Complaints {
		t.Errorf("wrong label: %s", c)
	}
	if len(r.Spikes) != s.Spikes {
		t.Fatalf("got %d spikes, want %d", len(r.Spikes), s.Spikes)
	}
	// Three counters per CPU that are not folded, and what the process itself gets
	// and returns meanwhile.
	room := int64(3*max(32, 2*runtime.NumCPU())*os.Getpagesize()*runtime.NumCPU()) + 2*mib
	for i, m := range r.Spikes {
		for way, name := range r.Ways {
			off := m.Seen[way].Peak - m.Base - int64(m.Size)
			if off > room || way < 2 && off < -room {
				t.Errorf("spike %d, %s: got a peak that is %d bytes off %d, want at most %d", i+1, name, off, m.Size, room)
			}
		}
	}
}

func TestStudyRefuses(t *testing.T) {
	for _, s := range []Study{{}, {Spikes: 1, Slot: time.Second, MaxHold: time.Second}} {
		if r, err := s.Run(t.Context()); err == nil {
			t.Errorf("%+v: got %v and no error, want one", s, r)
		}
	}
}

func TestStudyStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Default().Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want %v", err, context.Canceled)
	}
}

// TestExpected: labels that cannot be true are seen.
func TestExpected(t *testing.T) {
	const tile = 600 * time.Millisecond
	exact, sampled := &way{how: probe.Exact}, &way{how: probe.Sampled}
	label := func(how probe.How, n uint64, gap time.Duration) probe.Provenance {
		return probe.Provenance{How: how, Method: "some", Samples: n, MaxGap: gap}
	}
	for _, tt := range []struct {
		name string
		way  *way
		p    probe.Provenance
		ok   bool
	}{
		{"exact", exact, label(probe.Exact, 0, 0), true},
		{"exact without a method", exact, probe.Provenance{}, false},
		{"exact by samples", exact, label(probe.Exact, 5, time.Millisecond), false},
		{"sampled for exact", exact, label(probe.Sampled, 5, 100*time.Millisecond), false},
		{"exact for sampled", sampled, label(probe.Exact, 0, 0), false},
		{"at most for sampled", sampled, label(probe.AtMost, 5, 120*time.Millisecond), false},
		{"sampled", sampled, label(probe.Sampled, 5, 120*time.Millisecond), true},
		{"no sample", sampled, label(probe.Sampled, 0, tile), false},
		{"too few for the gap", sampled, label(probe.Sampled, 1, 100*time.Millisecond), false},
		{"a gap beyond the tile", sampled, label(probe.Sampled, 5, time.Second), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := tt.way.expected(tt.p, tile); (err == nil) != tt.ok {
				t.Errorf("%+v: got error %v, want none: %t", tt.p, err, tt.ok)
			}
		})
	}
}

// TestWhole: a window over all that does not have the highest tile's peak is
// seen.
func TestWhole(t *testing.T) {
	for _, tt := range []struct {
		whole int64
		ok    bool
	}{{80 * mib, true}, {80*mib + mib/2, true}, {79 * mib, false}, {90 * mib, false}} {
		r := &Result{Whole: tt.whole, Highest: 80 * mib}
		if r.check(); (len(r.Complaints) == 0) != tt.ok {
			t.Errorf("%d: got %q, want complaints: %t", tt.whole, r.Complaints, !tt.ok)
		}
	}
}
