package probe

import "sync"

// ringLen bounds the events that a probe keeps.
const ringLen = 256

// An eventRing holds a probe's last events. Windows hold positions in it, so
// that what was dropped is known for each of them. It has a lock of its own: an
// event is emitted from a hot path, which must not wait for a reading.
type eventRing struct {
	mu   sync.Mutex
	ring []Event
	next uint64 // position of the next event; position p is in ring[p%ringLen]
	ids  uint64
}

func (r *eventRing) add(e Event) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.ID == 0 {
		r.ids++
		e.ID = r.ids
	}
	if len(r.ring) < ringLen {
		r.ring = append(r.ring, e)
	} else {
		r.ring[r.next%ringLen] = e
	}
	r.next++
	return e.ID
}

// position is where the next event will stand.
func (r *eventRing) position() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.next
}

// since appends to dst the events from position on and says how many of them
// were dropped, and where the next one will stand.
func (r *eventRing) since(position uint64, dst []Event) (events []Event, dropped, next uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	first := position
	if r.next > ringLen && first < r.next-ringLen {
		first = r.next - ringLen
	}
	for p := first; p < r.next; p++ {
		dst = append(dst, r.ring[p%ringLen])
	}
	return dst, first - position, r.next
}
