package probe

import (
	"maps"
	"strings"
	"sync"
	"sync/atomic"
)

// defaultLimit is how many keys a Table keeps apart unless it is told otherwise.
const defaultLimit = 500

// A Table maps keys to values that are made on first use, such as one struct of
// series per path. It is bounded: keys beyond its limit share one value, the
// one of the key "other", so that no count is lost and no memory is unbounded.
//
// Get takes no lock for a key that has been there for a while; it costs one map
// look-up. A key's first use copies at most a few dozen entries, so that
// thousands of first uses cost milliseconds.
type Table[K comparable, V any] struct {
	limit int
	other K
	make  func(K) *V

	settled atomic.Pointer[map[K]*V] // immutable
	mu      sync.RWMutex
	young   map[K]*V // since settled was made
	rest    *V
}

// NewTable makes a table of at most limit keys (0 means 500). make is called
// once per key, and once for other if the limit is passed; it must not use the
// table.
func NewTable[K comparable, V any](limit int, other K, make func(K) *V) *Table[K, V] {
	if limit <= 0 {
		limit = defaultLimit
	}
	t := &Table[K, V]{limit: limit, other: other, make: make, young: map[K]*V{}}
	t.settled.Store(&map[K]*V{})
	return t
}

// Get is the value of k, made if this is its first use, or the value that keys
// beyond the limit share.
func (t *Table[K, V]) Get(k K) *V {
	if v := (*t.settled.Load())[k]; v != nil {
		return v
	}
	t.mu.RLock()
	v := t.young[k]
	if v == nil {
		v = (*t.settled.Load())[k] // it may have settled since
	}
	if v == nil {
		v = t.rest
	}
	t.mu.RUnlock()
	if v != nil {
		return v
	}
	return t.add(k)
}

// Len is the number of keys kept apart.
func (t *Table[K, V]) Len() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(*t.settled.Load()) + len(t.young)
}

func (t *Table[K, V]) add(k K) *V {
	t.mu.Lock()
	defer t.mu.Unlock()
	settled := *t.settled.Load()
	if v := settled[k]; v != nil {
		return v
	}
	if v := t.young[k]; v != nil {
		return v
	}
	if len(settled)+len(t.young) >= t.limit {
		if t.rest == nil {
			t.settle(settled)
			t.rest = t.make(t.other)
		}
		return t.rest
	}
	if name, ok := any(k).(string); ok {
		// Its own memory: a key that is cut from a request or a file would keep
		// all of that.
		k = any(strings.Clone(name)).(K)
	}
	v := t.make(k)
	t.young[k] = v
	// A young map of an eighth of the settled one keeps the copying linear in
	// the number of keys (times eight), and look-ups that miss rare.
	if len(t.young) >= 16+len(settled)/8 {
		t.settle(settled)
	}
	return v
}

// settle moves the young keys into a new immutable map.
func (t *Table[K, V]) settle(settled map[K]*V) {
	all := make(map[K]*V, len(settled)+len(t.young))
	maps.Copy(all, settled)
	maps.Copy(all, t.young)
	t.settled.Store(&all)
	clear(t.young)
}
