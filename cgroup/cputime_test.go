package cgroup

import (
	"errors"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// TestCPUTime: on every system that keeps it, CPU time is there in both modes
// and grows by what the process spends, and elsewhere it is absent.
func TestCPUTime(t *testing.T) {
	w := watch(t, New(Options{Root: "testdata/nothing"}))
	was, err := ownSpent()
	if errors.Is(err, probe.ErrUnsupported) {
		if got := absent(w.Close(), descCPU.Name); got != err.Error() {
			t.Errorf("got reason %q, want %q", got, err)
		}
		return
	}
	if err != nil || was.user < 0 || was.system < 0 {
		t.Fatalf("got %+v, %v", was, err)
	}
	used := was.user + was.system
	for now := used; now-used < 50*time.Millisecond; { // until the system has counted it
		is, err := ownSpent()
		if err != nil {
			t.Fatal(err)
		}
		now = is.user + is.system
	}
	var got float64
	modes := 0
	for m := range w.Close().Find(descCPU.Name) {
		got += m.Value
		modes++
	}
	if modes != 2 || got < 0.05 {
		t.Errorf("got %v s in %d modes, want at least 50 ms in two", got, modes)
	}
}

// cpuTime is the process's CPU time in its two modes, for tests that wait for it.
func cpuTime() (user, system time.Duration, err error) {
	s, err := ownSpent()
	return s.user, s.system, err
}
