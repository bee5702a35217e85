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
	user, system, err := cpuTime()
	if errors.Is(err, probe.ErrUnsupported) {
		if got := absent(w.Close(), descCPU.Name); got != err.Error() {
			t.Errorf("got reason %q, want %q", got, err)
		}
		return
	}
	if err != nil || user < 0 || system < 0 {
		t.Fatalf("got %v and %v, %v", user, system, err)
	}
	used := user + system
	for now := used; now-used < 50*time.Millisecond; { // until the system has counted it
		user, system, err = cpuTime()
		if err != nil {
			t.Fatal(err)
		}
		now = user + system
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
