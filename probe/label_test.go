package probe

import (
	"bytes"
	"context"
	"fmt"
	"runtime/pprof"
	"strings"
	"testing"
)

func TestLabelsInContext(t *testing.T) {
	ctx := WithRole(WithMethod(context.Background(), "(*Store).Get"), "request")
	l := LabelOf(ctx)
	if l.Method != "(*Store).Get" || l.Role != "request" {
		t.Errorf("label = %s on %s", l.Method, l.Role)
	}
	if other := LabelOf(WithMethod(WithRole(context.Background(), "request"), "(*Store).Get")); other != l {
		t.Error("equal labels are not the same")
	}
	if got := LabelOf(WithRole(ctx, "background:x")); got.Role != "background:x" || got.Method != l.Method {
		t.Errorf("label = %s on %s, want the method kept", got.Method, got.Role)
	}
	if got := testing.AllocsPerRun(100, func() { LabelOf(ctx) }); got != 0 {
		t.Errorf("LabelOf allocates %v times", got)
	}
}

// noContext is what code without a context passes, such as a file read.
var noContext context.Context

func TestDoPanics(t *testing.T) {
	func() {
		defer func() { _ = recover() }()
		Do(context.Background(), "dies", func(context.Context) { panic("x") })
	}()
	if got := goroutineLabel(); got != nil {
		t.Errorf("the label %s stays after a panic", got.Role)
	}
}

// TestProfileShowsTheWords: the goroutine profile carries the label.
func TestProfileShowsTheWords(t *testing.T) {
	Do(context.Background(), "background:profiled", func(context.Context) {
		var b bytes.Buffer
		if err := pprof.Lookup("goroutine").WriteTo(&b, 1); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), `"role":"background:profiled"`) {
			t.Errorf("no role in the goroutine profile:\n%s", b.String())
		}
	})
}

func TestLabelsAreBounded(t *testing.T) {
	small := NewTable(4, labelKey{otherName, otherName}, func(k labelKey) *Label { return &Label{Method: k.method, Role: k.role} })
	defer func(old *Table[labelKey, Label]) { labels = old }(labels)
	labels = small
	for i := range 100 {
		intern(fmt.Sprint(i), "r")
	}
	if l := intern("100", "r"); l.Method != otherName || l.Role != otherName || small.Len() != 4 {
		t.Errorf("label beyond the limit = %s on %s, %d kept", l.Method, l.Role, small.Len())
	}
}

func TestSeriesBinding(t *testing.T) {
	l := &Label{Method: "m", Role: "r"} // not interned: a label of the test's own
	var all []*Series[int]
	for range 6 { // more than a label has room for
		all = append(all, NewSeries(0, func(*Label) *int { return new(int) }))
	}
	for round := range 200 {
		for i, s := range all {
			*s.Of(l)++
			if got := *s.Of(l); got != round*2+1 {
				t.Fatalf("series %d has %d, want %d", i, got, round*2+1)
			}
			*s.Of(l)++
		}
	}
	few := all[:3]
	fresh := &Label{Method: "m2", Role: "r"}
	for _, s := range few {
		s.Of(fresh)
	}
	if got := testing.AllocsPerRun(100, func() {
		for _, s := range few {
			s.Of(fresh)
		}
	}); got != 0 {
		t.Errorf("Of allocates %v times", got)
	}
}
