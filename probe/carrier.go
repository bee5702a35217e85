package probe

import "context"

// A carrier is a context that carries who does the work and the operation that
// the work is part of. It is a context of its own, and not two values in two of
// package context's, because a statement asks for both: a call whose context
// comes straight from here then finds them without a search, and one whose
// context was given a deadline in between finds them sooner.
type carrier struct {
	context.Context
	label *Label
	op    *Op
	prof  context.Context // has the pprof labels under which Do runs; nil for none
}

type carrierKey struct{}

// Value implements [context.Context]. The pprof labels of prof are found before
// those of the context below, so that the goroutine's set of them is the very one
// that the label keeps: its identity tells the label.
func (c *carrier) Value(key any) any {
	if _, ok := key.(carrierKey); ok {
		return c
	}
	if c.prof != nil {
		if v := c.prof.Value(key); v != nil {
			return v
		}
	}
	return c.Context.Value(key)
}

var nothing carrier

// carried is what ctx carries; nothing is never nil. ctx may be nil.
func carried(ctx context.Context) *carrier {
	if c, ok := ctx.(*carrier); ok {
		return c
	}
	if ctx == nil {
		return &nothing
	}
	if c, ok := ctx.Value(carrierKey{}).(*carrier); ok {
		return c
	}
	return &nothing
}

// carry makes a context that carries a label and an operation. It takes the place
// of a carrier, rather than lying around it: nesting makes no search longer.
func carry(ctx context.Context, l *Label, op *Op) *carrier {
	switch below := ctx.(type) {
	case nil:
		return &carrier{context.Background(), l, op, nil}
	case *carrier:
		return &carrier{below.Context, l, op, below.prof}
	}
	return &carrier{ctx, l, op, nil}
}
