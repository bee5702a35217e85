package callsite

import "unsafe"

// What stands for a method or a role that is not known.
const (
	// Other is the method and the role of chains beyond a Finder's limit.
	Other = "(other)"
	// Unknown is the method of a chain without a function of the service, and
	// the role of a chain that is too deep to be read whole each time.
	Unknown = "(unknown)"
)

// defaultLimit is how many chains a Finder keeps apart unless it is told
// otherwise. A large service has some hundreds of call sites of its database.
const defaultLimit = 4096

// Options are the settings of a Finder.
type Options struct {
	// Between are import paths of further packages that stand between the
	// service and the probe, each with all packages below it: generated code, a
	// wrapper of database/sql. The zero value adds none to the built-in list.
	Between []string
	// Limit is how many chains are kept apart, once each for what is known without
	// them; further ones are Other. 0 means 4,096. A chain costs about a hundred bytes.
	Limit int
}

// A Finder says what it has decided about the calling chain: a value that was
// made of its method and its role, and of what was known without it.
type Finder[K, V any] struct {
	between between
	make    func(known *K, method, role string) V
	sites   *table[K, V]
	other   V
}

// New makes a Finder. make is called once for Other, with nothing known, and
// then once for each chain and what is known, possibly more often if several
// goroutines are the first.
func New[K, V any](o Options, make func(known *K, method, role string) V) *Finder[K, V] {
	if o.Limit <= 0 {
		o.Limit = defaultLimit
	}
	return &Finder[K, V]{
		between: append(between(nil), o.Between...),
		make:    make,
		sites:   newTable[K, V](o.Limit),
		other:   make(nil, Other, Other),
	}
}

// Find is the value of the calling chain and of what is known, which is nil or
// a pointer that tells it from everything else that can be known. Other is
// returned with nothing known.
//
// It is never inlined: its return address must tell the function that called,
// even when that function makes no other call.
//
//go:noinline
func (f *Finder[K, V]) Find(known *K) V {
	key, ok := frameKey()
	if ok {
		key = with(key, known)
		if s := f.sites.get(key); s != nil && !s.doubted {
			return s.value
		}
	}
	return f.find(known, key, ok)
}

// find is Find for a chain that frame pointers have not told, or not yet.
func (f *Finder[K, V]) find(known *K, key uint64, byFrames bool) V {
	switch {
	case !byFrames:
		checkWalk() // takes effect at the next call
	case f.sites.get(key) != nil: // doubted
	case f.sites.full.Load():
		return f.other
	default:
		called := callerPCs()
		s := &site[K, V]{key: key, known: known, doubted: !agree(walkedPCs(), called)}
		if !s.doubted {
			s.value = f.decide(known, called, true)
			return f.add(s)
		}
		f.sites.add(s)
	}
	key, whole := callersKey()
	key = with(key, known)
	if s := f.sites.get(key); s != nil {
		return s.value
	}
	if f.sites.full.Load() {
		return f.other
	}
	return f.add(&site[K, V]{key: key, known: known, value: f.decide(known, callerPCs(), whole)})
}

func (f *Finder[K, V]) add(s *site[K, V]) V {
	if s = f.sites.add(s); s == nil {
		return f.other
	}
	return s.value
}

// decide names a chain. What its key does not cover must not be in the
// decision, since other chains share it.
func (f *Finder[K, V]) decide(known *K, pcs []uintptr, whole bool) V {
	chain := functions(pcs)
	role := Unknown
	if whole {
		role = roleOf(chain)
	}
	return f.make(known, f.between.methodOf(chain), role)
}

// with mixes what is known into a chain's key, and leaves its lowest bit. The
// site keeps what is known, so that its address is not used again.
func with[K any](key uint64, known *K) uint64 {
	return key ^ uint64(uintptr(unsafe.Pointer(known)))*0x9E3779B97F4A7C15&^1
}
