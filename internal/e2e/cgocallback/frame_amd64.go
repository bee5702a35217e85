//go:build cgo && !windows

package cgocallback

/*
#include <stdint.h>

void callWithFramePointer(uintptr_t handle, uintptr_t fp);
*/
import "C"

import "runtime/cgo"

// callWithFramePointer calls f through C that has fp in the register where Go
// keeps its frame pointer, as code compiled without frame pointers may.
func callWithFramePointer(f func(), fp uintptr) {
	h := cgo.NewHandle(f)
	defer h.Delete()
	C.callWithFramePointer(C.uintptr_t(h), C.uintptr_t(fp))
}
