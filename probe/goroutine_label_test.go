//go:build !tidestaff_nolinkname

package probe

import (
	"context"
	"runtime/pprof"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestGoroutineLabel holds that the goroutine's own labels can be told on this
// Go release: without them file reads, which have no context, lose their role.
func TestGoroutineLabel(t *testing.T) {
	ctx := WithMethod(context.Background(), "Load")
	Do(ctx, "background:x", func(ctx context.Context) {
		if got := LabelOf(noContext); got.Role != "background:x" || got.Method != "Load" {
			t.Errorf("label = %s on %s, want the goroutine's", got.Method, got.Role)
		}
		if got := LabelOf(WithRole(context.Background(), "mine")); got.Role != "mine" || got.Method != "Load" {
			t.Errorf("label = %s on %s, want the context's role and the goroutine's method", got.Method, got.Role)
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			if got := LabelOf(noContext); got.Role != "background:x" {
				t.Errorf("role of a child goroutine = %s", got.Role)
			}
		})
		wg.Wait()
		Do(ctx, "inner", func(context.Context) {
			if got := LabelOf(noContext).Role; got != "inner" {
				t.Errorf("nested role = %s", got)
			}
		})
		if got := LabelOf(noContext).Role; got != "background:x" {
			t.Errorf("role after the nested one = %s", got)
		}
	})
	if got := goroutineLabel(); got != nil {
		t.Errorf("the label %s stays after Do", got.Role)
	}
}

// TestForeignLabels: pprof labels of the service stay beside ours.
func TestForeignLabels(t *testing.T) {
	before := 0
	byLabels.Range(func(any, any) bool { before++; return true })
	pprof.Do(context.Background(), pprof.Labels("tenant", "acme"), func(ctx context.Context) {
		for range 100 {
			Do(ctx, "tenant-request", func(ctx context.Context) {
				if got := LabelOf(noContext).Role; got != "tenant-request" {
					t.Errorf("role = %s", got)
				}
				got := map[string]string{}
				pprof.ForLabels(ctx, func(k, v string) bool { got[k] = v; return true })
				if diff := cmp.Diff(map[string]string{"tenant": "acme", "role": "tenant-request"}, got); diff != "" {
					t.Errorf("pprof labels (-want +got):\n%s", diff)
				}
			})
		}
	})
	after := 0
	byLabels.Range(func(any, any) bool { after++; return true })
	if after > before {
		t.Errorf("%d sets of labels are kept, %d before", after, before)
	}
}

// TestNamedGoroutine wants the name behind the goroutine's label.
func TestNamedGoroutine(t *testing.T) {
	series := NewSeries(0, func(l *Label) *Label { return l })
	ctx := context.Background()
	Do(ctx, "background:mail", func(context.Context) {
		if got := series.Named(ctx, "GetUser"); got.Method != "GetUser" || got.Role != "background:mail" {
			t.Errorf("got %s on %s, want GetUser on background:mail", got.Method, got.Role)
		}
	})
}
