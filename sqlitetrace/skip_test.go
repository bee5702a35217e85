package sqlitetrace_test

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/internal/callertest"
	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// shop is a service whose database is behind a gateway.
type shop struct{ gateway *callertest.Gateway }

func (s *shop) Orders(ctx context.Context) error { return s.gateway.Fetch(ctx, "plain") }

func (s *shop) Pay(ctx context.Context) error {
	return s.gateway.Write(ctx, "INSERT INTO item VALUES (?)")
}

// TestSkipPackages passes over the packages that the options name, in queries
// and in transactions, and over no others.
func TestSkipPackages(t *testing.T) {
	const module = "github.com/tidestaff/tidestaff/internal"
	gateway := []string{"(*Gateway).Fetch", "(*Gateway).Write"}
	service := []string{"(*shop).Orders", "(*shop).Pay"}
	for _, tc := range []struct{ skip, want []string }{
		{nil, gateway},
		{[]string{module + "/callertest"}, service},
		{[]string{"example.com/orm", module}, service}, // each with what is below it
		{[]string{module + "/caller"}, gateway},        // not above it, only like it
	} {
		p := sqlitetrace.New(sqlitetrace.Options{SkipPackages: tc.skip})
		db := p.OpenDB(&server{shape: shape{conn: "EQB"}})
		defer db.Close()
		w := watch(t, p)
		s := &shop{&callertest.Gateway{DB: db}}
		if err := s.Orders(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.Pay(t.Context()); err != nil {
			t.Fatal(err)
		}
		methods := map[string]bool{}
		r := w.Close()
		for _, m := range r.Metrics {
			if method := m.Attr(probe.AttrMethod); method != "" {
				methods[method] = true
			}
		}
		if diff := cmp.Diff(tc.want, slices.Sorted(maps.Keys(methods))); diff != "" {
			t.Errorf("skip %q: methods (-want +got):\n%s", tc.skip, diff)
		}
	}
}

// TestSkipAllocations holds a chain of the probe's own finder to no allocation.
func TestSkipAllocations(t *testing.T) {
	s := &server{shape: shape{conn: "EQ"}, quiet: true}
	measure := func(db *sql.DB) float64 {
		defer db.Close()
		return testing.AllocsPerRun(200, func() { db.ExecContext(context.Background(), "plain") })
	}
	p := sqlitetrace.New(sqlitetrace.Options{SkipPackages: []string{"example.com/orm"}})
	watch(t, p)
	bare := measure(sql.OpenDB(s))
	if got := measure(p.OpenDB(s)) - bare; got != 0 {
		t.Errorf("got %v allocations over the bare driver, want 0", got)
	}
}
