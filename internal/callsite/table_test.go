package callsite

import "testing"

func TestTable(t *testing.T) {
	tab := newTable[string, int](1000)
	const stride = 1 << 20 // collide in every size of the table
	for i := range 1000 {
		s := &site[string, int]{key: uint64(i) * stride, value: i}
		if got := tab.add(s); got != s {
			t.Fatalf("add of key %d returned another site", i)
		}
		if got := tab.add(&site[string, int]{key: s.key}); got != s {
			t.Fatalf("the second add of key %d did not return the first", i)
		}
	}
	for i := range 1000 {
		if s := tab.get(uint64(i) * stride); s == nil || s.value != i {
			t.Fatalf("key %d: got %v", i, s)
		}
	}
	if s := tab.get(7); s != nil {
		t.Errorf("a key that was never added has %v", s)
	}
	if tab.full.Load() {
		t.Error("full before anything was refused")
	}
	if s := tab.add(&site[string, int]{key: 7}); s != nil || !tab.full.Load() {
		t.Errorf("beyond the limit: got %v, full %v", s, tab.full.Load())
	}
}
