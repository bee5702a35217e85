package callsite

import (
	"iter"
	"math/bits"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
)

// maxFrames is how much of a chain tells it from others. Physical frames for
// the walk, functions for runtime.Callers.
const maxFrames = 512

// usualFrames are most chains whole. A larger buffer would make the stacks of
// small goroutines grow.
const usualFrames = 64

// maxNamed bounds how much of a chain is read to name it.
const maxNamed = 1 << 14

// callersKey is the calling chain's key by runtime.Callers, and whether it
// covers the chain to the goroutine's first function.
func callersKey() (key uint64, whole bool) {
	var pcs [usualFrames]uintptr
	n := runtime.Callers(2, pcs[:]) // 2: Callers, callersKey
	if n < len(pcs) {
		return hash(pcs[:n]), true
	}
	return deepKey()
}

//go:noinline
func deepKey() (key uint64, whole bool) {
	var pcs [maxFrames]uintptr
	n := runtime.Callers(3, pcs[:])
	return hash(pcs[:n]), n < len(pcs)
}

// hash never returns an odd number: those are the keys by frame pointers.
func hash(pcs []uintptr) uint64 {
	h := uint64(len(pcs))
	for _, pc := range pcs {
		h = (bits.RotateLeft64(h, 29) ^ uint64(pc)) * 0x9E3779B97F4A7C15
	}
	return h &^ 1
}

// callerPCs are the calling goroutine's functions from its caller outwards, as
// runtime.Callers tells them. It allocates.
//
//go:noinline
func callerPCs() []uintptr {
	for size := 256; ; size *= 4 {
		pcs := make([]uintptr, size)
		if n := runtime.Callers(2, pcs); n < size || size >= maxNamed {
			return pcs[:n]
		}
	}
}

// named are the functions of a chain that have a name, innermost first, inlined ones
// included.
func named(pcs []uintptr) iter.Seq[runtime.Frame] {
	return func(yield func(runtime.Frame) bool) {
		frames := runtime.CallersFrames(pcs)
		for more := true; more; {
			var f runtime.Frame
			f, more = frames.Next()
			if f.Function != "" && f.Function != "runtime.goexit" && !yield(f) {
				return
			}
		}
	}
}

// functions are their names, in the runtime's words.
func functions(pcs []uintptr) []string {
	all := make([]string, 0, len(pcs))
	for f := range named(pcs) {
		all = append(all, f.Function)
	}
	return all
}

// Line is where on the calling chain a method does what is asked about, such as
// "fleet.go:88". A method that is not on it has that of the service's innermost
// code, past the built-in packages and further ones that stand between; without any
// it is "". It takes microseconds, and allocates.
func Line(skip []string, method string) string {
	pcs := callerPCs()
	chain := functions(pcs)
	at := between(skip).firstOwn(chain)
	if i := slices.IndexFunc(chain[at:], func(name string) bool { return parse(name).String() == method }); i > 0 {
		at += i
	}
	for f := range named(pcs) {
		if at--; at < 0 {
			return filepath.Base(f.File) + ":" + strconv.Itoa(f.Line)
		}
	}
	return ""
}

// agree reports whether a walk over frame pointers saw all physical frames that
// runtime.Callers saw, in the same order and to the same end. The walk may have
// more: runtime.Callers leaves out the wrappers that the compiler makes.
func agree(walked, called []uintptr) bool {
	all, want := entries(walked), entries(called)
	if len(want) == 0 || len(all) == 0 || all[len(all)-1] != want[len(want)-1] {
		return false
	}
	for _, pc := range walked {
		if runtime.FuncForPC(pc) == nil {
			return false
		}
	}
	at := 0
	for _, entry := range all {
		if at < len(want) && want[at] == entry {
			at++
		}
	}
	return at == len(want)
}

// entries are the entry addresses of a chain's physical frames. Neighbours of
// the same function, inlined into each other or called, are one entry.
func entries(pcs []uintptr) []uintptr {
	all := make([]uintptr, 0, len(pcs))
	frames := runtime.CallersFrames(pcs)
	for {
		f, more := frames.Next()
		if f.Function != "" && (len(all) == 0 || all[len(all)-1] != f.Entry) {
			all = append(all, f.Entry)
		}
		if !more {
			return all
		}
	}
}
