package lag

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

const (
	// maxOverlaps bounds the operations that an event names, and keptOverlaps
	// those that are remembered while its stall goes on.
	maxOverlaps  = 8
	keptOverlaps = 4 * maxOverlaps
	// maxPeers bounds the members of Sets that are asked. A probe that meets new
	// ones for each benchmark or phase forgets the oldest.
	maxPeers = 64
	// answerWait is how long the event of a stall waits for the peers' answers.
	answerWait = 100 * time.Millisecond
)

// An overlapper is a member of a Set that can say which operations overlapped
// the last d; see [probe.Core.Overlapping].
type overlapper interface {
	Overlapping(dst []probe.Overlap, d time.Duration) []probe.Overlap
}

// A peer is one that is asked. It may be anybody's: it is asked on a goroutine of
// its own, without a lock, and one that has not answered is not asked again.
type peer struct {
	overlapper
	asked atomic.Bool // and has not answered
}

// overlapping is the peer's answer. Its mistake is not the service's.
func (p *peer) overlapping(d time.Duration) (found []probe.Overlap) {
	defer p.asked.Store(false)
	defer func() {
		if recover() != nil {
			found = nil
		}
	}()
	return p.Overlapping(nil, d)
}

// know adds a peer to those that are asked, once.
func (p *Probe) know(o overlapper) {
	for {
		old := p.peers.Load()
		var peers []*peer
		if old != nil {
			peers = *old
		}
		same := func(known *peer) bool { return known.overlapper == o }
		if reflect.TypeOf(o).Comparable() && slices.ContainsFunc(peers, same) {
			return
		}
		peers = append(slices.Clip(peers[max(len(peers)-maxPeers+1, 0):]), &peer{overlapper: o})
		if p.peers.CompareAndSwap(old, &peers) {
			return
		}
	}
}

// answers are the peers' that have been asked and not answered, under the track's mu.
type answers struct {
	open int
	none chan struct{} // closed when open is 0 again
}

// ask lets the peers say what overlapped the time since the episode began. They are
// asked at every wake-up that has made the episode longer, because peers remember
// only so many operations. It does not wait. Under mu.
func (tr *track) ask(ep *episode) {
	peers := tr.probe.peers.Load()
	if peers == nil {
		return
	}
	start := ep.start
	for _, p := range *peers {
		if !p.asked.CompareAndSwap(false, true) {
			continue
		}
		if tr.answers.open++; tr.answers.open == 1 {
			tr.answers.none = make(chan struct{})
		}
		go func() { // which may have to wait for its turn
			tr.answer(ep, start, p.overlapping(time.Duration(tr.ticker.now()-start)))
		}()
	}
}

// answer takes a peer's answer to an episode that began at start. Of what has been
// found so far the best is kept: a stall may last for days.
func (tr *track) answer(ep *episode, start int64, found []probe.Overlap) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	ep.overlaps = mergeOverlaps(ep.overlaps, found)
	if now := time.Now(); len(ep.overlaps) > keptOverlaps {
		ep.overlaps = within(ep.overlaps, now.Add(-time.Duration(tr.ticker.now()-start)), now, keptOverlaps)
	}
	if tr.answers.open--; tr.answers.open == 0 {
		close(tr.answers.none)
	}
}

// awaitAnswers waits for those that have not been given, for a while.
func (tr *track) awaitAnswers() {
	tr.mu.Lock()
	open, none := tr.answers.open, tr.answers.none
	tr.mu.Unlock()
	if open == 0 {
		return
	}
	timeout := time.NewTimer(answerWait)
	defer timeout.Stop()
	select {
	case <-none:
	case <-timeout.C:
	}
}

// mergeOverlaps adds what was found later to what was known: an operation that
// ran then may have ended since.
func mergeOverlaps(known, found []probe.Overlap) []probe.Overlap {
	for _, o := range found {
		i := slices.IndexFunc(known, func(k probe.Overlap) bool {
			// The wall clock of a start is worked out anew each time, from two
			// clocks that a busy machine does not read at one instant.
			d := k.Start.Sub(o.Start).Abs()
			return k.Activity == o.Activity && k.Name == o.Name && k.Role == o.Role && d < 5*time.Millisecond
		})
		if i < 0 {
			known = append(known, o)
		} else if o.Duration >= known[i].Duration {
			known[i] = o
		}
	}
	return known
}

// within are the operations that overlapped a stretch of time, at most so many, the longest
// overlap first, and of equal ones the shortest operation: of a request and the
// statement that it waited for, the statement.
func within(all []probe.Overlap, start, end time.Time, most int) []probe.Overlap {
	overlap := func(o probe.Overlap) time.Duration {
		from, to := o.Start, o.Start.Add(o.Duration)
		if from.Before(start) {
			from = start
		}
		if to.After(end) {
			to = end
		}
		return to.Sub(from)
	}
	kept := slices.DeleteFunc(slices.Clone(all), func(o probe.Overlap) bool { return overlap(o) <= 0 })
	slices.SortStableFunc(kept, func(a, b probe.Overlap) int {
		// Nearly the same overlap is the same one: a statement lies within its operation.
		x, y := overlap(a), overlap(b)
		if d := (x - y).Abs(); d > max(x, y)/20 {
			return cmp.Compare(y, x)
		}
		return cmp.Compare(a.Duration, b.Duration)
	})
	return kept[:min(len(kept), most)]
}

// describe is one operation for a person.
func describe(o probe.Overlap) string {
	var b strings.Builder
	b.WriteString(o.Name)
	if o.Role != "" {
		b.WriteString(" on " + o.Role)
	}
	fmt.Fprintf(&b, ", %v", short(o.Duration))
	return b.String()
}
