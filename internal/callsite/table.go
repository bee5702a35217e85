package callsite

import (
	"sync"
	"sync/atomic"
)

// A site is the decision for one chain and what was known without it.
type site[K, V any] struct {
	key   uint64
	known *K
	value V
	// doubted says that frame pointers and runtime.Callers differ on this chain.
	// There is no value then: the key by runtime.Callers has it.
	doubted bool
}

// A table finds sites by key without a lock: open addressing, at most half
// full, sites are never removed. The keys are hashes already.
type table[K, V any] struct {
	slots atomic.Pointer[[]atomic.Pointer[site[K, V]]] // a power of two of them
	full  atomic.Bool

	mu    sync.Mutex
	count int
	limit int
}

func newTable[K, V any](limit int) *table[K, V] {
	t := &table[K, V]{limit: limit}
	slots := make([]atomic.Pointer[site[K, V]], 16)
	t.slots.Store(&slots)
	return t
}

// get is the site of a key, or nil.
func (t *table[K, V]) get(key uint64) *site[K, V] {
	slots := *t.slots.Load()
	mask := uint64(len(slots) - 1)
	for i := key >> 1; ; i++ { // the lowest bit says where the key is from
		s := slots[i&mask].Load()
		if s == nil || s.key == key {
			return s
		}
	}
}

// add adds a site and returns it, or the one that was there before, or nil if
// the table is full.
func (t *table[K, V]) add(s *site[K, V]) *site[K, V] {
	t.mu.Lock()
	defer t.mu.Unlock()
	if old := t.get(s.key); old != nil {
		return old
	}
	if t.count == t.limit {
		t.full.Store(true)
		return nil
	}
	t.count++
	slots := *t.slots.Load()
	if 2*t.count > len(slots) {
		slots = doubled(slots)
		insert(slots, s)
		t.slots.Store(&slots)
		return s
	}
	insert(slots, s)
	return s
}

func doubled[K, V any](old []atomic.Pointer[site[K, V]]) []atomic.Pointer[site[K, V]] {
	slots := make([]atomic.Pointer[site[K, V]], 2*len(old))
	for i := range old {
		if s := old[i].Load(); s != nil {
			insert(slots, s)
		}
	}
	return slots
}

func insert[K, V any](slots []atomic.Pointer[site[K, V]], s *site[K, V]) {
	mask := uint64(len(slots) - 1)
	i := s.key >> 1
	for slots[i&mask].Load() != nil {
		i++
	}
	slots[i&mask].Store(s)
}
