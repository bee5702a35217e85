package report

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

func TestJoin(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	a := &Report{Name: "a", Started: at.Add(time.Second), Duration: 5 * time.Second}
	b := &Report{Name: "b", Started: at, Duration: 3 * time.Second}
	r := Join("all", a, b)
	if !r.Started.Equal(at) || r.Duration != 6*time.Second {
		t.Errorf("got %v for %v, want %v for 6s", r.Started, r.Duration, at)
	}
	if r.Part("b") != b || r.Part("") != r || r.Part("c") != nil {
		t.Error("Part does not find the parts by name")
	}
	if !slices.Equal(r.Parts, []*Report{a, b}) {
		t.Error("the parts are not those given")
	}
	if r.Host.OthersCPU != nil {
		t.Errorf("got others' CPU %v, want none", *r.Host.OthersCPU)
	}
}

// used is a report of a process that used some CPU time in a window.
func used(name string, start, length, self, capacity time.Duration) *Report {
	at := time.Unix(0, 0)
	rd := &probe.Reading{Start: at.Add(start), End: at.Add(start + length)}
	rd.Metrics = []probe.Metric{{Desc: descSelf, Value: self.Seconds()}, {Desc: descCapacity, Value: capacity.Seconds()}}
	r := Of(rd)
	r.Name = name
	return r
}

func TestJoinTakesPartsOutOfTheOthers(t *testing.T) {
	const s = time.Second
	for _, tt := range []struct {
		name   string
		others float64
		parts  []*Report
		want   float64
	}{
		{"load at the same time", 0.5, []*Report{used("load", 0, 10*s, 4*s, 20*s)}, 0.3},
		{"half of it at the same time", 0.5, []*Report{used("load", 5*s, 10*s, 4*s, 20*s)}, 0.4},
		{"another phase", 0.5, []*Report{used("after", 11*s, 10*s, 4*s, 20*s)}, 0.5},
		{"never below zero", 0.1, []*Report{used("load", 0, 10*s, 4*s, 20*s)}, 0},
		{"alone", 0.5, nil, 0.5},
	} {
		server := used("server", 0, 10*s, 2*s, 20*s)
		server.Host.OthersCPU = &tt.others
		r := Join("all", append([]*Report{server}, tt.parts...)...)
		if got := *r.Host.OthersCPU; math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
		if *server.Host.OthersCPU != tt.others {
			t.Errorf("%s: the part itself was changed", tt.name)
		}
	}
}

// A table says what its columns' parts know, once.
func TestJoinedConditions(t *testing.T) {
	column := func(users int64) *Report {
		server, load := &Report{Name: "server", Deviations: []string{"no TLS"}}, &Report{Name: "load", Deviations: []string{"no TLS"}}
		server.Conditions.Add("sandboxes", 20_000, "{row}")
		load.Conditions.Add("sandboxes", 20_000, "{row}")
		load.Conditions.Add("users", users, "")
		return Join("x", server, load)
	}
	table := Table{Columns: []Column{{"a", column(6)}, {"b", column(12)}}}
	var b strings.Builder
	if err := table.WriteTerminal(&b); err != nil {
		t.Fatal(err)
	}
	want := "Conditions: sandboxes 20,000\nConditions, a: users 6\nConditions, b: users 12\nDeviations: no TLS\n"
	if b.String() != want {
		t.Errorf("got:\n%swant:\n%s", b.String(), want)
	}
}
