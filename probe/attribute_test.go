package probe_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

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
