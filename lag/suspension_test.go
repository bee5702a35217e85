package lag

import (
	"testing"
	"testing/synctest"
	"time"
)

// A suspended machine is an event and no lag.
func TestSuspension(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := scriptedStall(Options{}, nil)
		s.change(func(now *snapshot) { now.has = hasSuspended; now.suspended = time.Hour })
		w := watch(t, p)
		time.Sleep(525 * ms)
		s.change(func(now *snapshot) { now.suspended += 3 * time.Hour })
		time.Sleep(500 * ms)
		r := w.Close()
		wantSlots(t, p, r)
		wantValues(t, r, "total")
		if len(r.Events) != 1 || r.Events[0].Name != eventSuspension || r.Events[0].Duration != 3*time.Hour {
			t.Errorf("got %+v, want a suspension of 3 h", r.Events)
		}
	})
}

// A suspension is told of once, whoever takes the snapshot that has it first.
func TestSuspensionBesideClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := scriptedStall(Options{}, nil)
		s.change(func(now *snapshot) { now.has = hasSuspended; now.suspended = time.Hour })
		w := watch(t, p)
		time.Sleep(525 * ms)
		s.change(func(now *snapshot) { now.suspended += 3 * time.Hour })
		p.running.Load().unsettled() // as a Close does that has waited in vain
		time.Sleep(500 * ms)
		if r := w.Close(); len(r.Events) != 1 || r.Events[0].Duration != 3*time.Hour {
			t.Errorf("got %+v, want a suspension of 3 h", r.Events)
		}
	})
}
