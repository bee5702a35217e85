package budgets

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"testing"

	"github.com/tidestaff/tidestaff/probe/probetest"
)

// A site is where a statement was asked for, as its own line tells.
type site struct{ line int }

// here is called in the arguments of a statement and takes the line down.
func (s *site) here(ctx context.Context) context.Context {
	_, _, s.line, _ = runtime.Caller(1)
	return ctx
}

// A Table is a store of one kind of things.
type Table[T any] struct {
	*Store
	site *site
}

// Count is small enough to be inlined into who calls it.
func (t *Table[T]) Count(ctx context.Context) error { return t.exec1(t.site.here(ctx)) }

// Literal asks from a function literal within another.
func (t *Table[T]) Literal(ctx context.Context) error {
	return func() error {
		return func() error {
			return t.exec1(t.site.here(ctx))
		}()
	}()
}

// Deferred asks on its way out.
func (t *Table[T]) Deferred(ctx context.Context) (err error) {
	defer func() {
		err = t.exec1(t.site.here(ctx))
	}()
	return nil
}

// Ranged asks in a loop over a function.
func (t *Table[T]) Ranged(ctx context.Context) error {
	for range t.twice() {
		if err := t.exec1(t.site.here(ctx)); err != nil {
			return err
		}
	}
	return nil
}

func (t *Table[T]) twice() iter.Seq[int] {
	return func(yield func(int) bool) { _ = yield(1) && yield(2) }
}

func (t *Table[T]) exec1(ctx context.Context) error {
	_, err := t.db.ExecContext(ctx, "UPDATE jobs SET state = 'done' WHERE id = 1")
	return err
}

// TestSites: a failure names the method and the line through inlined code, literals,
// type parameters, deferred calls and loops over functions.
func TestSites(t *testing.T) {
	s := open(t, 5)
	table := &Table[int]{s, new(site)}
	for _, tt := range []struct {
		name, method string
		op           func(context.Context) error
	}{
		{"method value", "Count", table.Count},
		{"inlined", "Count", func(ctx context.Context) error { return table.Count(ctx) }},
		{"literal", "Literal", table.Literal},
		{"deferred", "Deferred", table.Deferred},
		{"range over a function", "Ranged", table.Ranged},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j := &judged{TB: t}
			probetest.Within(j, s.sqlp, 1, s.as(t, "request", func(ctx context.Context) error {
				return errors.Join(tt.op(ctx), tt.op(ctx))
			}), probetest.NoDuplicates())
			j.want(t, fmt.Sprintf("by (*Table).%s sites_test.go:%d, want never", tt.method, table.site.line))
		})
	}
}
