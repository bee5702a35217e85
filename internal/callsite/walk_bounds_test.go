//go:build (amd64 || arm64) && !tidestaff_nofp

package callsite

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// TestWalkStaysOnTheStack starts walks where no frame record can be. Each must
// be over before it reads.
func TestWalkStaysOnTheStack(t *testing.T) {
	var here uintptr
	at := uintptr(unsafe.Pointer(&here))
	for _, c := range []struct {
		name string
		from uintptr
	}{
		{"the zero page", 8},
		{"far below", at - 1<<20},
		{"far above", at + 1<<30},
		{"the last word of all", ^uintptr(7)},
		{"the last byte of all", ^uintptr(0)},
		{"not an address", 1 << 62},
		{"not aligned", at + 1},
		{"aligned for half a word", at + 4},
		{"the heap", uintptr(unsafe.Pointer(heap))},
	} {
		if hash, root, n := walk(c.from, nil, maxFrames); hash != 0 || root != 0 || n != 0 {
			t.Errorf("%s: read %d frames, root %#x", c.name, n, root)
		}
	}
}

var heap = new([4]uintptr)

// TestWalkOfRecords walks over records that the test has made.
func TestWalkOfRecords(t *testing.T) {
	var r [8]uintptr // four records of a frame pointer and a return address
	at := func(i int) uintptr { return uintptr(unsafe.Pointer(&r[2*i])) }
	for _, c := range []struct {
		name string
		next [4]uintptr // what the records point to: the address of r is added to small values
		n    int
		root uintptr
	}{
		{"a chain to its end", [4]uintptr{16, 32, 48, 0}, 4, 103},
		{"a short chain", [4]uintptr{32, 0, 0, 0}, 2, 102},
		{"a record of itself", [4]uintptr{16, 16, 0, 0}, 2, 0},
		{"downwards", [4]uintptr{32, 0, 16, 0}, 2, 0},
		{"not aligned", [4]uintptr{16, 36, 0, 0}, 2, 0},
		{"out of the stack", [4]uintptr{16, 1 << 40, 0, 0}, 2, 0},
	} {
		for i, next := range c.next {
			if next != 0 && next < 1<<20 {
				next += at(0)
			}
			r[2*i], r[2*i+1] = next, uintptr(100+i)
		}
		if _, root, n := walk(at(0), nil, maxFrames); n != c.n || root != c.root {
			t.Errorf("%s: got %d frames and root %d, want %d and %d", c.name, n, root, c.n, c.root)
		}
		if _, root, n := walk(at(0), nil, 1); n != 1 || root != 0 && c.n > 1 {
			t.Errorf("%s, at most one: got %d frames and root %d", c.name, n, root)
		}
	}
}

// TestWalkFromAnywhere starts at every word from a goroutine's first frame to
// above its stack, then at addresses of all sizes and on the stack: what lies
// there is no frame pointer as a rule, and no walk may fault or run on.
func TestWalkFromAnywhere(t *testing.T) {
	above := make(chan uintptr)
	go func() {
		var here uintptr
		end := uintptr(unsafe.Pointer(&here))
		for n := 1; n > 0; end += 8 {
			_, _, n = walk(end, nil, maxFrames)
		}
		above <- end - uintptr(unsafe.Pointer(&here))
	}()
	if got := <-above; got > 2048 {
		t.Errorf("the stack seems to go on for %d bytes above a goroutine's first frame", got)
	}
	var here uintptr
	at := uintptr(unsafe.Pointer(&here))
	r := rand.New(rand.NewPCG(1, 2))
	for range 1_000_000 {
		from := uintptr(r.Uint64()) >> r.IntN(48)
		walk(from, nil, maxFrames)
		walk(at+uintptr(r.IntN(1<<16)), nil, maxFrames)
	}
}

// TestAgree takes away from what a walk saw, and adds to it.
func TestAgree(t *testing.T) {
	checkWalk()
	nest(5, func() {
		walked, called := walkedPCs(), callerPCs()
		if !agree(walked, called) {
			t.Fatal("the whole walk does not agree")
		}
		wrapped := slices.Insert(slices.Clone(walked), 1, rootPC.Load())
		if !agree(wrapped, called) {
			t.Error("a frame that runtime.Callers hides is held against the walk")
		}
		for name, less := range map[string][]uintptr{
			"nothing":         nil,
			"no first frame":  walked[1:],
			"no last frame":   walked[:len(walked)-1],
			"a frame lost":    slices.Delete(slices.Clone(walked), len(walked)-3, len(walked)-2),
			"more than all":   append(slices.Clone(walked), walked[0]),
			"not code at all": append([]uintptr{1}, walked...),
		} {
			if agree(less, called) {
				t.Errorf("%s: agrees", name)
			}
		}
		if agree(walked, nil) {
			t.Error("agrees with nothing")
		}
	})
}
