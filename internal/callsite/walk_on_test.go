//go:build (amd64 || arm64) && !tidestaff_nofp

package callsite

// walks is whether this build walks over frame pointers.
const walks = true

// GiveUp makes the walk fail until the returned function is called, as if the
// check at first use had not passed.
func GiveUp() func() {
	checkWalk()
	old := rootPC.Swap(0)
	return func() { rootPC.Store(old) }
}
