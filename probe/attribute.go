package probe

import (
	"cmp"
	"context"

	"github.com/tidestaff/tidestaff/internal/callsite"
)

// LabelOf says who does the work now: each of method and role is taken from
// ctx, else from the goroutine's label (see [Do]), else from the call chain.
// ctx may be nil.
//
// From the call chain, the method is found in the package that called into
// database/sql, package os or a wrapper of them (helpers like sqlx are skipped,
// and types that have sqlc's QueryContext and its like):
// from the innermost method outwards as long as the receiver stays the same,
// the outermost exported one, so "(*Store).Get" and not "(*Store).queryOne".
// The role follows from the goroutine's first function: "request" under net/http
// and gRPC, "test" under package testing, "main", "timer", else "background:"
// and that function's name. What starts goroutines for others, such as
// sync.WaitGroup, does not count as the first.
//
// Further packages to pass over are for a [Series] to say; see [Series.Skip].
//
// At most 4,096 call chains are told apart; later ones are "(other)". A chain
// without a function of the service has the method "(unknown)", and one of more
// than 512 frames has the role "(unknown)".
//
// A complete label in ctx costs a few nanoseconds. On amd64 and arm64 a call
// chain of 20 frames costs about half of what a pair of clock reads costs. On
// other architectures, and with the build tag tidestaff_nofp, it costs twenty
// times as much. A chain that has not been seen before costs more, once.
func LabelOf(ctx context.Context) *Label { return labelOf(ctx, chains) }

func labelOf(ctx context.Context, f *chainFinder) *Label {
	known := contextLabel(ctx)
	if known != nil && known.Method != "" && known.Role != "" {
		return known
	}
	if known = withGoroutine(known); known != nil && known.Method != "" && known.Role != "" {
		return known
	}
	return chainLabel(known, f)
}

// labelNamed is labelOf for work that has a name of its own; see Series.Named.
func labelNamed(ctx context.Context, f *chainFinder, name string) *Label {
	known := contextLabel(ctx)
	if known == nil || known.Method == "" || known.Role == "" {
		known = withGoroutine(known)
	}
	switch {
	case known == nil:
		known = intern(name, "")
	case known.Method == "":
		known = intern(name, known.Role)
	}
	if known.Method != "" && known.Role != "" {
		return known
	}
	return chainLabel(known, f)
}

// withGoroutine completes what is known from the goroutine's label.
func withGoroutine(known *Label) *Label {
	g := goroutineLabel()
	switch {
	case g == nil:
	case known == nil:
		return g
	case known.Role == "" || known.Method == "":
		return intern(cmp.Or(known.Method, g.Method), cmp.Or(known.Role, g.Role))
	}
	return known
}

// A chainFinder knows the label of each call chain, completed from what was
// known without it.
type chainFinder = callsite.Finder[Label, *Label]

// chains is shared by all who pass over no packages of their own.
var chains = newChains(nil)

func newChains(skip []string) *chainFinder {
	return callsite.New(callsite.Options{Between: skip}, completed)
}

func completed(known *Label, method, role string) *Label {
	if known != nil {
		method, role = cmp.Or(known.Method, method), cmp.Or(known.Role, role)
	}
	return intern(method, role)
}

// chainLabel completes what is known from the call chain.
func chainLabel(known *Label, f *chainFinder) *Label {
	l := f.Find(known)
	if known != nil && l.Method == callsite.Other { // beyond the limit: keep what is known
		return completed(known, l.Method, l.Role)
	}
	return l
}
