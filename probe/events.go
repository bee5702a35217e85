package probe

import (
	"slices"
	"sort"
	"sync"
)

const (
	// ringLen bounds the events that a probe keeps.
	ringLen = 256
	// maxEmissions bounds how often one event that is going on is in the ring, so
	// that many short windows over one stall push out nothing but its older states.
	maxEmissions = 8
)

// An eventRing holds a probe's last events. Windows hold marks in it, so
// that what was dropped is known for each of them. It has a lock of its own: an
// event is emitted from a hot path, which must not wait for a reading.
type eventRing struct {
	mu    sync.Mutex
	ring  []emission
	first int // place of the oldest one
	now   mark
	ids   uint64
}

// An emission is an event and how many were emitted before it.
type emission struct {
	Event
	position uint64
}

// A mark is a moment in the life of a ring.
type mark struct {
	emitted uint64
	dropped uint64 // of them, those that went for later events
}

func (r *eventRing) add(e Event) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.ID == 0 {
		r.ids++
		e.ID = r.ids
	} else {
		r.supersede(e)
	}
	own := emission{e, r.now.emitted}
	r.now.emitted++
	if len(r.ring) < ringLen {
		r.ring = append(r.ring, own)
		return e.ID
	}
	r.ring[r.first] = own
	r.first = (r.first + 1) % ringLen
	r.now.dropped++
	return e.ID
}

// supersede forgets the oldest state of an event that is emitted once more, if there
// are many of it. That is no drop: a later state is there.
func (r *eventRing) supersede(e Event) {
	states, oldest := 0, 0
	for i := len(r.ring) - 1; i >= 0; i-- {
		if o := r.at(i); o.Ongoing && o.ID == e.ID && o.Name == e.Name {
			states++
			oldest = i
		}
	}
	if states >= maxEmissions {
		ordered := slices.Concat(r.ring[r.first:], r.ring[:r.first])
		r.ring, r.first = slices.Delete(ordered, oldest, oldest+1), 0
	}
}

// at is an emission by age, 0 the oldest.
func (r *eventRing) at(i int) *emission { return &r.ring[(r.first+i)%len(r.ring)] }

// mark is the present one.
func (r *eventRing) mark() mark {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

// since appends to dst the events since a mark and says how many of them
// were dropped, and the present mark. What is neither there nor dropped was
// superseded; if both have happened, the number of drops is the most that there
// can have been.
func (r *eventRing) since(m mark, dst []Event) (events []Event, dropped uint64, now mark) {
	r.mu.Lock()
	defer r.mu.Unlock()
	first := sort.Search(len(r.ring), func(i int) bool { return r.at(i).position >= m.emitted })
	for i := first; i < len(r.ring); i++ {
		dst = append(dst, r.at(i).Event)
	}
	gone := r.now.emitted - m.emitted - uint64(len(r.ring)-first)
	return dst, min(gone, r.now.dropped-m.dropped), r.now
}
