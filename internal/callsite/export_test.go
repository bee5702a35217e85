package callsite

// What the tests outside the package need: there they are a service, whose
// functions no list passes over.

const (
	Walks     = walks
	MaxFrames = maxFrames
)

// Agree reports whether both ways see the calling chain alike.
//
//go:noinline
func Agree() bool { return agree(walkedPCs(), callerPCs()) }

// Sites are how many decisions are kept, and how many chains are doubted.
func (f *Finder[K, V]) Sites() (all, doubted int) {
	slots := *f.sites.slots.Load()
	for i := range slots {
		if s := slots[i].Load(); s != nil {
			all++
			if s.doubted {
				doubted++
			}
		}
	}
	return all, doubted
}
