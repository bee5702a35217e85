package proc

import (
	"errors"
	"testing"
	"time"
)

// The process's CPU time grows when it computes.
func TestReadUsage(t *testing.T) {
	before, err := ReadUsage()
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	for limit := time.Now().Add(time.Minute); ; {
		after, err := ReadUsage()
		if err != nil {
			t.Fatal(err)
		}
		if after.CPU >= before.CPU+5*time.Millisecond {
			break
		}
		if time.Now().After(limit) {
			t.Fatalf("CPU time went from %v to %v in a minute of work", before.CPU, after.CPU)
		}
	}
	if n := testing.AllocsPerRun(100, func() { _, _ = ReadUsage() }); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}

// A machine that runs a test is not suspended meanwhile.
func TestReadSuspended(t *testing.T) {
	var least, most time.Duration
	for i := range 1000 {
		s, err := ReadSuspended()
		if errors.Is(err, errors.ErrUnsupported) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			least, most = s, s
		}
		least, most = min(least, s), max(most, s)
	}
	if most < 0 || most > least+time.Minute {
		t.Errorf("got %v to %v of suspension within a test", least, most)
	}
	if n := testing.AllocsPerRun(100, func() { _, _ = ReadSuspended() }); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}

// The process's clock moves by what it computes, in steps that are no ticks, and
// never back. That it stands still between two readings is rare and no mistake: the
// kernel takes off what a virtual processor did not get.
func TestReadCPUClock(t *testing.T) {
	last, err := ReadCPUClock()
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	least := time.Hour
	for limit, moved := time.Now().Add(time.Minute), 0; moved < 1000; {
		now, err := ReadCPUClock()
		if err != nil {
			t.Fatal(err)
		}
		if now < last || time.Now().After(limit) {
			t.Fatalf("CPU time went from %v to %v, after %d steps", last, now, moved)
		}
		if now > last {
			moved, least = moved+1, min(least, now-last)
		}
		last = now
	}
	if least >= time.Millisecond {
		t.Errorf("got steps of at least %v of CPU time, want what was used", least)
	}
	if n := testing.AllocsPerRun(100, func() { _, _ = ReadCPUClock() }); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}
