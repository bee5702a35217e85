package lag

import (
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// suspendedLeast is how long a machine must have been suspended for an event.
const suspendedLeast = time.Second

// suspension makes an event of a suspension of the machine. It is no lag: the
// clock of the schedule stood still with everything else.
func (tr *track) suspension(d time.Duration) {
	if tr.probe.threshold == 0 {
		return
	}
	end := time.Now()
	tr.probe.core.Emit(probe.Event{
		ID: tr.probe.number(0), Name: eventSuspension, Start: end.Add(-d), Duration: d,
		Cause: string(CauseSuspended), Attrs: tr.probe.nameAttr(),
		Text: "the machine was suspended for " + short(d),
	})
}

// suspended is for how long the machine was, since the snapshot before now in which
// that was known. Others take snapshots too, so the history does not tell.
func (t *ticker) suspended(now snapshot) (d time.Duration) {
	if now.has&hasSuspended == 0 {
		return 0
	}
	if t.awake.has&hasSuspended != 0 {
		d = now.suspended - t.awake.suspended
	}
	t.awake = now
	return d
}
