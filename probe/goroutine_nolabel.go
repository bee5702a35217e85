//go:build tidestaff_nolinkname

package probe

import "unsafe"

// goroutineLabels knows no goroutine's labels in this build.
func goroutineLabels() unsafe.Pointer { return nil }
