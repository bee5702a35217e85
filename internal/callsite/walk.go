//go:build (amd64 || arm64) && !tidestaff_nofp

package callsite

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// walk follows the frame pointers of the calling goroutine from its caller
// outwards, over at most max frames, and hashes the return addresses; they are
// stored in buf unless it is nil. root is the last of them if the walk came to
// the goroutine's first frame, which has no caller's frame pointer, and 0 if it
// was stopped by max or by a pointer that no frame record can have: outside the
// goroutine's stack, not above the one before, or not aligned. from is 0, or for
// tests the frame pointer to start with.
//
// The bounds are the first two words of the runtime's g, whose place is also
// what the runtime's own assembly relies on. Were that to change, no frame
// pointer would lie between them, and the walk would be over at once.
//
//go:noescape
func walk(from uintptr, buf *uintptr, max int) (hash, root uintptr, n int)

// rootPC is where a goroutine's first function returns to, in runtime.goexit.
// It is 0 until the walk has proved itself, and for good if it has not.
var rootPC atomic.Uintptr

var checked sync.Once

// frameKey is the calling chain's key by frame pointers. It is not ok if the
// walk is not in use, or did not come to the first frame of the goroutine: a
// frame pointer that C code left behind may be anything, 0 included.
func frameKey() (key uint64, ok bool) {
	root := rootPC.Load()
	if root == 0 {
		return 0, false
	}
	hash, end, _ := walk(0, nil, maxFrames)
	return uint64(hash) | 1, end == root
}

// checkWalk makes sure, once, that frame pointers can be relied on here. It
// looks at a goroutine of its own: what lies below the caller, such as C, must
// not decide for the whole process.
func checkWalk() {
	checked.Do(func() {
		root := make(chan uintptr)
		go func() { root <- check1() }()
		rootPC.Store(<-root)
	})
}

// The check's chain has a function in the middle that the compiler may inline,
// and a call through a pointer that it cannot.

//go:noinline
func check1() uintptr { return check2(check3) }

func check2(f func() uintptr) uintptr { return f() }

//go:noinline
func check3() uintptr {
	walked, called := walkedPCs(), callerPCs()
	if len(walked) < 3 || !agree(walked, called) {
		return 0
	}
	root := walked[len(walked)-1]
	if f := runtime.FuncForPC(root); f == nil || f.Name() != "runtime.goexit" {
		return 0
	}
	return root
}

// walkedPCs are the return addresses of the calling goroutine's frames, from
// its caller outwards; none if the walk was stopped.
//
//go:noinline
func walkedPCs() []uintptr {
	var buf [maxFrames]uintptr
	_, root, n := walk(0, &buf[0], len(buf))
	if root == 0 {
		return nil
	}
	return append([]uintptr(nil), buf[:n]...)
}
