package reports

import (
	"bytes"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/tidestaff/tidestaff/lag"
	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/probe/report"
)

// TestLagLog writes a window's lag as an interval log, and reads each part of it back.
func TestLagLog(t *testing.T) {
	w, err := lag.New(lag.Options{Interval: 5 * time.Millisecond}).Watch()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var file bytes.Buffer
	log := report.NewHistogramLog(&file, "tidestaff.scheduler.lag.duration")
	var want []lag.Stats
	for range 3 {
		time.Sleep(50 * time.Millisecond)
		var r probe.Reading
		w.Next(&r)
		if err := log.Add(&r); err != nil {
			t.Fatal(err)
		}
		s, ok := lag.StatsOf(&r)
		if !ok {
			t.Fatal("the reading has no lag")
		}
		want = append(want, s)
	}
	read := hdrhistogram.NewHistogramLogReader(&file)
	for i, s := range want {
		parts := map[string]lag.Part{"timer": s.Timer, "queue": s.Queue, "total": s.Total}
		for range 3 {
			h, err := read.NextIntervalHistogram()
			if err != nil || h == nil {
				t.Fatalf("interval %d: got %v, %v", i, h, err)
			}
			p, ok := parts[h.Tag()]
			if !ok {
				t.Errorf("interval %d: got the tag %q, want each part once", i, h.Tag())
			}
			delete(parts, h.Tag())
			if got := time.Duration(h.ValueAtQuantile(50)); h.TotalCount() != int64(p.Count) || got < p.P50*999/1000 || got > p.P50*1001/1000 {
				t.Errorf("interval %d, %s: got %d with a median of %v, want %d with %v", i, h.Tag(), h.TotalCount(), got, p.Count, p.P50)
			}
		}
	}
	if h, err := read.NextIntervalHistogram(); h != nil || err != nil {
		t.Errorf("got %v, %v at the end, want nothing", h, err)
	}
}
