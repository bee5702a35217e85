package probe

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"
)

// TestTableLosesNothing: keys beyond the limit share the value of "other".
func TestTableLosesNothing(t *testing.T) {
	made := 0
	tab := NewTable(10, -1, func(int) *atomic.Int64 { made++; return new(atomic.Int64) })
	for i := range 1000 {
		tab.Get(i % 50).Add(1)
	}
	var kept int64
	for i := range 10 {
		kept += tab.Get(i).Load()
	}
	rest := tab.Get(49)
	if tab.Get(20) != rest || kept != 200 || rest.Load() != 800 {
		t.Errorf("kept %d and %d beyond the limit, want 200 and 800", kept, rest.Load())
	}
	if made != 11 || tab.Len() != 10 {
		t.Errorf("%d values made, %d keys, want 11 and 10", made, tab.Len())
	}
}

func TestTableConcurrent(t *testing.T) {
	var made atomic.Int64
	tab := NewTable(0, -1, func(int) *atomic.Int64 { made.Add(1); return new(atomic.Int64) })
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 5000 {
				tab.Get(i % 600).Add(1)
			}
		})
	}
	wg.Wait()
	var sum int64
	seen := map[*atomic.Int64]bool{}
	for i := range 600 {
		if v := tab.Get(i); !seen[v] {
			seen[v] = true
			sum += v.Load()
		}
	}
	if sum != 20_000 || made.Load() != 501 || len(seen) != 501 {
		t.Errorf("%d counted in %d values, %d made, want 20000 in 501", sum, len(seen), made.Load())
	}
}

// TestTableKeepsItsKeys: a key that is settled while it is looked up stays
// itself, also when the limit is passed at that moment.
func TestTableKeepsItsKeys(t *testing.T) {
	for range 300 {
		tab := NewTable(20, -1, func(k int) *int { return &k })
		for i := range 15 {
			tab.Get(i)
		}
		start := make(chan struct{})
		var wg sync.WaitGroup
		for g := range 3 {
			wg.Go(func() {
				<-start
				for i := range 30 {
					tab.Get(15 + (i+g)%30)
				}
			})
		}
		wg.Go(func() {
			<-start
			for i := range 200 {
				if k := i % 15; *tab.Get(k) != k {
					t.Errorf("key %d has the value of %d", k, *tab.Get(k))
				}
			}
		})
		close(start)
		wg.Wait()
	}
}

// TestTableFirstUses: the copying for thousands of first uses stays linear. It
// is counted in the bytes of maps made, not in time.
func TestTableFirstUses(t *testing.T) {
	tab := NewTable(4096, -1, func(int) *int { return new(int) })
	before := tab.settled.Load()
	copies, entries := 0, 0
	for i := range 4096 {
		tab.Get(i)
		if now := tab.settled.Load(); now != before {
			before, copies, entries = now, copies+1, entries+len(*now)
		}
	}
	if entries > 12*4096 {
		t.Errorf("%d copies of %d entries for 4096 keys, want at most 12 per key", copies, entries)
	}
}

func TestTableGetAllocs(t *testing.T) {
	tab := NewTable(0, labelKey{}, func(labelKey) *int { return new(int) })
	k := labelKey{"(*Store).Get", "request"}
	tab.Get(k)
	if got := testing.AllocsPerRun(100, func() { tab.Get(k) }); got != 0 {
		t.Errorf("Get allocates %v times", got)
	}
}

// TestTableCopiesNames: a key does not keep what it was cut from.
func TestTableCopiesNames(t *testing.T) {
	var kept string
	tab := NewTable(10, "(other)", func(k string) *int { kept = k; return new(int) })
	long := strings.Repeat("x", 100)
	v := tab.Get(long[:5])
	if unsafe.StringData(kept) == unsafe.StringData(long) {
		t.Error("the key is a part of what it was cut from")
	}
	if tab.Get("xxxxx") != v || tab.Len() != 1 {
		t.Errorf("got another value, or %d keys, want the one", tab.Len())
	}
}
