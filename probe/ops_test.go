package probe

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

func TestOps(t *testing.T) {
	ops := &Ops{Name: "main"}
	w := watch(t, ops)
	ctx := WithRole(context.Background(), "request")
	for i := range 3 {
		ctx, op := ops.Begin(ctx, "list")
		if OpOf(ctx) != op {
			t.Fatal("the context does not carry the operation")
		}
		OpOf(ctx).AddQueries(int64(i), 1000, 20)
		op.End(nil)
		op.End(errors.New("again")) // a second End does nothing
	}
	for _, err := range []error{context.Canceled, fmt.Errorf("x: %w", context.DeadlineExceeded), errors.New("x")} {
		_, op := ops.Begin(ctx, "fail")
		op.End(err)
	}
	_, open := ops.Begin(ctx, "open")
	r := w.Close()
	list := []Attr{{attrOperation, "list"}, {AttrRole, "request"}, {AttrProbeName, "main"}}
	if d := metric(t, r, "tidestaff.operation.duration", list...).Dist; d.Count() != 3 {
		t.Errorf("%d durations, want 3", d.Count())
	}
	if d := metric(t, r, "tidestaff.operation.queries", list...).Dist; d.Count() != 3 || d.Sum() != 3 || d.Max() != 2 {
		t.Errorf("queries: n %d, sum %d, max %d, want 3, 3, 2", d.Count(), d.Sum(), d.Max())
	}
	if d := metric(t, r, "tidestaff.operation.rows", list...).Dist; d.Sum() != 60 {
		t.Errorf("rows = %d, want 60", d.Sum())
	}
	for range r.Find("tidestaff.operation.file.reads") {
		t.Error("file reads are in the reading though no leaf measures them")
	}
	for _, class := range failureClasses {
		if got := value(t, r, "tidestaff.operation.failures", Attr{attrOperation, "fail"}, Attr{attrErrorType, class}); got != 1 {
			t.Errorf("failures %s = %v, want 1", class, got)
		}
	}
	if got := value(t, r, "tidestaff.operation.active", Attr{attrOperation, "open"}); got != 1 || r.CarriedOut != 1 {
		t.Errorf("active = %v, carried out %d, want 1, 1", got, r.CarriedOut)
	}
	open.End(nil)
}

func TestOpsNested(t *testing.T) {
	ops := &Ops{}
	w := watch(t, ops)
	ctx, outer := ops.Begin(context.Background(), "outer")
	inCtx, inner := ops.Begin(ctx, "inner")
	OpOf(inCtx).AddReads(2, 100)
	inner.End(nil)
	OpOf(ctx).AddReads(1, 10)
	outer.End(nil)
	r := w.Close()
	for name, want := range map[string]int64{"inner": 100, "outer": 110} {
		if got := metric(t, r, "tidestaff.operation.file.io", Attr{attrOperation, name}).Dist.Sum(); got != want {
			t.Errorf("%s read %d bytes, want %d", name, got, want)
		}
	}
}

func TestOpsUnwatched(t *testing.T) {
	ops := &Ops{}
	ctx, op := ops.Begin(context.Background(), "x")
	if op != nil || OpOf(ctx) != nil || OpOf(noContext) != nil {
		t.Error("an operation that nobody watches was begun")
	}
	op.AddQueries(1, 1, 1)
	op.AddReads(1, 1)
	op.End(nil)
	r := watch(t, ops).Close()
	if len(r.Metrics) != 0 {
		t.Errorf("%d metrics, want none", len(r.Metrics))
	}
}

func TestOpsBounded(t *testing.T) {
	ops := &Ops{MaxSeries: 5}
	w := watch(t, ops)
	ctx := WithRole(context.Background(), "r")
	for i := range 50 {
		_, op := ops.Begin(ctx, fmt.Sprint("op", i))
		op.End(nil)
	}
	r := w.Close()
	var n, other uint64
	for m := range r.Find("tidestaff.operation.duration") {
		n += m.Dist.Count()
		if m.Attr(attrOperation) == otherName {
			other = m.Dist.Count()
		}
	}
	if n != 50 || other != 45 {
		t.Errorf("%d durations, %d of them other, want 50, 45", n, other)
	}
}

// leaf is a probe that adds to operations.
type leaf struct{ Core }

func (*leaf) FeedsOps() (queries, reads bool) { return true, false }

// TestOpsMeet: with a leaf in the Set, operations without a query count too.
func TestOpsMeet(t *testing.T) {
	ops := new(Ops)
	w := watch(t, NewSet(ops, new(leaf)))
	var none context.Context
	_, op := ops.Begin(none, "get") // taken for the background
	op.End(nil)
	_, op = ops.Begin(context.Background(), "get")
	op.AddQueries(3, 10, 3)
	op.End(nil)
	r := w.Close()
	if d := metric(t, r, "tidestaff.operation.queries").Dist; d.Count() != 2 || d.Mean() != 1.5 {
		t.Errorf("queries: n %d, mean %v, want 2, 1.5", d.Count(), d.Mean())
	}
	for range r.Find("tidestaff.operation.file.io") {
		t.Error("file reads are in the reading though no leaf measures them")
	}
}
