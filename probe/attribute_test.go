package probe_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/tidestaff/tidestaff/internal/callertest"
	"github.com/tidestaff/tidestaff/probe"
)

// store stands for a service's store: its methods ask who they are.
type store struct{}

func (s *store) Get() *probe.Label { return s.get(context.Background()) }

func (s *store) get(ctx context.Context) *probe.Label { return probe.LabelOf(ctx) }

func deep(n int, f func() *probe.Label) *probe.Label {
	if n == 0 {
		return f()
	}
	return deep(n-1, f)
}

func TestCallChain(t *testing.T) {
	s := new(store)
	if l := s.Get(); l.Method != "(*store).Get" || l.Role != "test" {
		t.Errorf("in a test: %q on %q", l.Method, l.Role)
	}
	done := make(chan *probe.Label)
	go func() { done <- s.Get() }()
	if l := <-done; l.Role != "background:TestCallChain" {
		t.Errorf("in a goroutine: role %q", l.Role)
	}
	if l := deep(200, s.Get); l.Method != "(*store).Get" || l.Role != "test" {
		t.Errorf("deep in a chain: %q on %q", l.Method, l.Role)
	}
	if l := s.get(probe.WithRole(context.Background(), "mine")); l.Method != "(*store).get" || l.Role != "mine" {
		// no exported method is on the way
		t.Errorf("with a role: %q on %q", l.Method, l.Role)
	}
	var seen *probe.Label
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { seen = s.Get() }))
	defer srv.Close()
	res, err := http.Get(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if seen.Role != "request" || seen.Method != "(*store).Get" {
		t.Errorf("in a handler: %q on %q", seen.Method, seen.Role)
	}
	if got := testing.AllocsPerRun(100, func() { s.Get() }); got != 0 {
		t.Errorf("attribution allocates %v times", got)
	}
}

// shop asks behind a gateway who it is.
type shop struct {
	gateway *callertest.Gateway
	series  *probe.Series[string]
}

func (s *shop) Order() string { return s.gateway.Label(context.Background(), s.series).Method }

// TestSkip passes over packages on the call chains of one Series.
func TestSkip(t *testing.T) {
	skipping := func(packages ...string) *shop {
		s := probe.NewSeries(0, func(*probe.Label) *string { return new(string) })
		s.Skip(packages...)
		return &shop{new(callertest.Gateway), s}
	}
	const path = "github.com/tidestaff/tidestaff/internal/callertest"
	plain, exact := skipping(), skipping("example.com/orm", path)
	for range 2 { // found, then known
		if got := plain.Order(); got != "(*Gateway).Label" {
			t.Errorf("nothing skipped: got %q, want the gateway's method", got)
		}
		if got := exact.Order(); got != "(*shop).Order" {
			t.Errorf("the gateway skipped: got %q, want the shop's method", got)
		}
	}
	if got := testing.AllocsPerRun(100, func() { exact.Order() }); got != 0 {
		t.Errorf("got %v allocations, want 0", got)
	}
}

// TestNamed wants the name behind the labels and before the call chain.
func TestNamed(t *testing.T) {
	type words = [2]string
	series := probe.NewSeries(0, func(l *probe.Label) *words { return &words{l.Method, l.Role} })
	of := func(ctx context.Context) words { return *series.Named(ctx, "GetUser") }
	ctx, noContext := context.Background(), context.Context(nil)
	role := probe.WithRole(ctx, "request")
	for name, tc := range map[string]struct{ got, want [2]string }{
		"nothing":         {of(ctx), [2]string{"GetUser", "test"}},
		"no context":      {of(noContext), [2]string{"GetUser", "test"}},
		"role":            {of(role), [2]string{"GetUser", "request"}},
		"method":          {of(probe.WithMethod(ctx, "Load")), [2]string{"Load", "test"}},
		"method and role": {of(probe.WithMethod(role, "Load")), [2]string{"Load", "request"}},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: got %q, want %q", name, tc.got, tc.want)
		}
	}
	if got, want := *series.Named(role, ""), (words{"TestNamed", "request"}); got != want {
		t.Errorf("no name: got %q, want %q, the call chain's", got, want)
	}
	if n := testing.AllocsPerRun(100, func() { of(ctx) }); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}
