package lag

import (
	"sync/atomic"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// AttrCaptured is the attribute, with the value "true", of the lag distributions
// of those slots that waited for nothing so much as for a goroutine profile, which
// stops the world, of this probe's or of one that shares its ticker. They exist where
// there was one, and with Options.Capture; the distributions without the attribute do
// not hold these slots.
const AttrCaptured = "tidestaff.lag.captured"

// A span is a time during which captures were taken.
type span struct {
	from, to int64
	open     bool // it has not ended
}

// within is how much of the span lies between two times.
func (s span) within(from, to int64) int64 {
	end := s.to
	if s.open {
		end = to
	}
	return max(min(end, to)-max(s.from, from), 0)
}

// overlap is how long captures were taken between two times, under mu.
func (c *captures) overlap(from, to int64) (d int64) {
	for _, s := range c.spans {
		d += s.within(from, to)
	}
	return d
}

// overlapped is the same.
func (c *captures) overlapped(from, to int64) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Duration(c.overlap(from, to))
}

// A stopper knows when the world was last stopped for a profile, or is being. All
// tracks of a ticker share one: what stops one of them stops all.
type stopper struct{ last atomic.Pointer[span] }

// lastProfile is when that was, the zero span if never. A nil stopper knows of none.
func (s *stopper) lastProfile() span {
	if s != nil {
		if last := s.last.Load(); last != nil {
			return *last
		}
	}
	return span{}
}

// share lets the captures, which may be nil, tell of their profiles.
func (c *captures) share(s *stopper) {
	if c != nil {
		c.stopper = s
	}
}

// seriesOf are the series of a slot that waited from one time to another: those
// of slots that a profile held up, if one went on for most of it. Less would not
// do: every stall that is captured overlaps its own profile, and it is the stalls
// that must not be left out.
func (tr *track) seriesOf(profile span, from, to int64) *series {
	if wait := to - from; wait > 0 && 2*profile.within(from, to) > wait {
		tr.probe.makeCaptured()
		return &tr.probe.captured
	}
	return &tr.probe.series
}

// makeCaptured makes the series of the slots that a profile held up, once: when the
// probe is made if it takes profiles, and otherwise for the first one that another
// probe takes.
func (p *Probe) makeCaptured() {
	if p.captured.total != nil {
		return
	}
	d, mark := lagDuration, probe.Attr{Key: AttrCaptured, Value: "true"}
	if p.through != nil {
		d = loopDuration
		p.captured.loop = part(&p.core, d, "loop", mark)
	}
	p.captured.total, p.captured.queue = part(&p.core, d, "total", mark), part(&p.core, d, "queue", mark)
	p.captured.timer = part(&p.core, d, "timer", mark)
}

// whose is how the probe's captures are named.
func (p *Probe) whose() string {
	kind := "scheduler"
	if p.through != nil {
		kind = "loop"
	}
	if p.core.Name != "" {
		kind += "-" + p.core.Name
	}
	return kind
}

// capture lets an episode be captured when it is first looked after, and if that was
// refused, as long as it goes on: what is in the way may be over before it is. Its
// files have its number in their names, so that it gets that now. Under mu.
func (tr *track) capture(ep *episode) {
	if tr.captures != nil && (ep.capture == nil || ep.capture.refused != "") {
		ep.id = tr.probe.number(ep.id)
		ep.capture = tr.captures.begin(ep.id, ep.start)
	}
}

// number is the next number of an event that has none.
func (p *Probe) number(id uint64) uint64 {
	if id == 0 {
		id = p.ids.Add(1)
	}
	return id
}

// publish emits the event of an episode, under mu. With captures, the last event
// of one waits for them.
func (tr *track) publish(ep *episode, last bool, e probe.Event) {
	if ep.capture == nil {
		tr.capture(ep)
	}
	ep.id = tr.probe.number(ep.id)
	e.ID = ep.id
	core, c := &tr.probe.core, tr.captures
	switch {
	case c == nil:
		core.Emit(e)
		if last {
			close(ep.explained)
		}
	case !last:
		captured(&e, c.soFar(ep.capture), c.overlapped(ep.start, ep.end))
		core.Emit(e)
	default:
		start, end := ep.start, ep.end
		c.finish(ep.capture, func(files []CaptureFile) {
			captured(&e, files, c.overlapped(start, end))
			core.Emit(e)
			close(ep.explained)
		})
	}
}
