//go:build cgo && !windows

package cgocallback

import (
	"testing"
	"unsafe"
)

// TestFramePointersOfC: whatever C has left where Go looks for a frame pointer
// is not read where it must not be, and does not change what is found.
func TestFramePointersOfC(t *testing.T) {
	s := new(store)
	for range 3 {
		var onStack [8]uintptr
		for _, fp := range []uintptr{
			0, 1, 8, 1 << 40, 0xc000000000, ^uintptr(7), ^uintptr(0),
			uintptr(unsafe.Pointer(s)), uintptr(unsafe.Pointer(&onStack)), uintptr(unsafe.Pointer(&onStack)) + 1<<16,
		} {
			callWithFramePointer(s.Load, fp)
			if want := [2]string{"(*store).Load", "test"}; s.got != want {
				t.Errorf("with the frame pointer %#x: got %q, want %q", fp, s.got, want)
			}
			s.got = [2]string{}
		}
	}
}
