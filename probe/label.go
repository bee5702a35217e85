package probe

import (
	"context"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/tidestaff/tidestaff/internal/callsite"
)

// A Label says who does the work: the store method (such as
// "(*Store).GetSandbox") and the role of the goroutine ("request",
// "background:retention", "test", "main", or the user's own word). Labels are
// interned: equal ones are the same pointer, so a hot path can keep what it
// found for one in the label itself (see [Series]). They are immutable.
//
// At most 4,096 different labels are kept apart; further ones become one label
// whose method and role are "(other)".
type Label struct {
	Method, Role string

	bound  [4]atomic.Pointer[binding] // per Series, what it resolved
	misses atomic.Uint64              // of bound
	prof   context.Context            // carries this label's pprof labels and nothing else
}

// A binding is the value that one Series resolved for a label.
type binding struct {
	series unsafe.Pointer
	value  unsafe.Pointer
}

// otherName stands for everything beyond a table's limit.
const otherName = callsite.Other

// The attributes under which labels appear in metrics.
const (
	// AttrMethod is the store method; OpenTelemetry's name for a query's
	// summary of low cardinality.
	AttrMethod = "db.query.summary"
	// AttrRole is the role of the goroutine.
	AttrRole = "tidestaff.goroutine.role"
)

type labelKey struct{ method, role string }

// labels interns. It holds words, never measurements.
var labels = NewTable(4096, labelKey{otherName, otherName}, func(k labelKey) *Label {
	l := &Label{Method: k.method, Role: k.role}
	l.prof = pprof.WithLabels(context.Background(), l.profLabels())
	return l
})

func intern(method, role string) *Label { return labels.Get(labelKey{method, role}) }

// method is the label's method, "" for no label.
func (l *Label) method() string {
	if l == nil {
		return ""
	}
	return l.Method
}

// role is the label's role, "" for no label.
func (l *Label) role() string {
	if l == nil {
		return ""
	}
	return l.Role
}

// profLabels are the label's words as a CPU profile shows them.
func (l *Label) profLabels() pprof.LabelSet {
	var kv []string
	if l.Role != "" {
		kv = append(kv, "role", l.Role)
	}
	if l.Method != "" {
		kv = append(kv, "method", l.Method)
	}
	return pprof.Labels(kv...)
}

// contextLabel is the label that ctx carries, or nil. ctx may be nil.
func contextLabel(ctx context.Context) *Label { return carried(ctx).label }

// WithRole returns a context under which work is attributed to role. A method
// that ctx carries already stays.
func WithRole(ctx context.Context, role string) context.Context {
	c := carried(ctx)
	return carry(ctx, intern(c.label.method(), role), c.op)
}

// WithMethod returns a context under which work is attributed to method. A role
// that ctx carries already stays.
func WithMethod(ctx context.Context, method string) context.Context {
	c := carried(ctx)
	return carry(ctx, intern(method, c.label.role()), c.op)
}

// Do runs fn in a role: under a context from WithRole, and with the goroutine's
// pprof labels "role" and "method" set, so that a CPU profile shows the same
// words. Goroutines that fn starts inherit the label even if they are not given
// the context. pprof labels that ctx carries stay, beside these; a goroutine
// that then outlives fn is attributed by its call chain again.
func Do(ctx context.Context, role string, fn func(context.Context)) {
	c := carried(ctx)
	l := intern(c.label.method(), role)
	inRole, foreign := carry(ctx, l, c.op), foreignLabels(ctx)
	var labelled context.Context = inRole
	if foreign {
		labelled = pprof.WithLabels(inRole, l.profLabels())
	} else {
		inRole.prof = l.prof
	}
	pprof.SetGoroutineLabels(labelled)
	forget := remember(goroutineLabels(), l, !foreign)
	// As pprof.Do does, go back to the labels of the context that was given.
	defer func() {
		forget()
		pprof.SetGoroutineLabels(ctx)
	}()
	fn(labelled)
}

// foreignLabels reports whether ctx carries pprof labels that are not ours.
func foreignLabels(ctx context.Context) bool {
	foreign := false
	pprof.ForLabels(ctx, func(key, _ string) bool {
		foreign = key != "role" && key != "method"
		return !foreign
	})
	return foreign
}

// byLabels finds a Label by the identity of a goroutine's set of pprof labels.
// Nothing of the set is decoded, so that no layout of the runtime is relied on.
// A set that is kept here cannot be freed, so its address is not used again.
var byLabels sync.Map // unsafe.Pointer -> *Label

// remember makes the set known, for good if it is a label's own (those are
// bounded) or until the returned function is called.
func remember(set unsafe.Pointer, l *Label, own bool) (forget func()) {
	if set == nil {
		return func() {}
	}
	_, known := byLabels.LoadOrStore(set, l)
	if own || known {
		return func() {}
	}
	return func() { byLabels.Delete(set) }
}

// goroutineLabel is the label of the calling goroutine's pprof labels, or nil.
func goroutineLabel() *Label {
	set := goroutineLabels()
	if set == nil {
		return nil
	}
	l, _ := byLabels.Load(set)
	label, _ := l.(*Label)
	return label
}

// A Series is a table of one value per label, typically a struct of recorders
// and counters. The label carries what was resolved for it, so that the hot
// path does no look-up: Of costs two nanoseconds after the first time.
type Series[V any] struct {
	table  *Table[*Label, V]
	chains *chainFinder
}

// NewSeries makes a series table of at most limit labels (0 means 500), the
// rest of which share the value of a label whose method and role are "(other)".
func NewSeries[V any](limit int, make func(*Label) *V) *Series[V] {
	return &Series[V]{NewTable(limit, intern(otherName, otherName), make), chains}
}

// Skip has [Series.Label] and [Series.Named] pass over further packages on the
// call chain, each with those below it, as [LabelOf] passes over sqlx: packages
// that stand between the service's own code and the probe, such as generated
// code. It is for the probe's constructor, before the Series is used. A Series
// that skips packages has up to 4,096 call chains of its own, a hundred bytes each.
func (s *Series[V]) Skip(packages ...string) {
	if len(packages) > 0 {
		s.chains = newChains(packages)
	}
}

// Label is [LabelOf], but that it passes over the packages of [Series.Skip].
func (s *Series[V]) Label(ctx context.Context) *Label { return labelOf(ctx, s.chains) }

// Of is the value of the label.
func (s *Series[V]) Of(l *Label) *V {
	for i := range l.bound {
		b := l.bound[i].Load()
		if b == nil {
			break
		}
		if b.series == unsafe.Pointer(s) {
			return (*V)(b.value)
		}
	}
	return s.resolve(l)
}

// Named is the value of the label of work that has a name of its own, such as a
// statement that says which query it is: Label's label, but that the name is
// the method where neither ctx nor the goroutine's label has one. An empty name
// is none. ctx may be nil.
func (s *Series[V]) Named(ctx context.Context, name string) *V {
	if name == "" {
		return s.Of(labelOf(ctx, s.chains))
	}
	return s.Of(labelNamed(ctx, s.chains, name))
}

// resolve looks the label up and binds the value to it. A label has room for
// four; when more series use it, they take each other's place now and then.
func (s *Series[V]) resolve(l *Label) *V {
	v := s.table.Get(l)
	n := l.misses.Add(1) - 1
	if n < uint64(len(l.bound)) || n%64 == 0 {
		at := n
		if n >= uint64(len(l.bound)) {
			at = n / 64 % uint64(len(l.bound))
		}
		l.bound[at].Store(&binding{unsafe.Pointer(s), unsafe.Pointer(v)})
	}
	return v
}
