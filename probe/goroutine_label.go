//go:build !tidestaff_nolinkname

package probe

import (
	"unsafe"
)

// goroutineLabels is the identity of the calling goroutine's set of pprof
// labels, nil if it has none. runtime/pprof uses the same function. A test
// holds that it works on the Go release in use; the build tag
// tidestaff_nolinkname leaves it out, and goroutines are then attributed by
// context and call chain alone.
//
//go:linkname goroutineLabels runtime/pprof.runtime_getProfLabel
func goroutineLabels() unsafe.Pointer
