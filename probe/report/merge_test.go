package report

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
)

// replica is what one process reports: some requests, their durations, its memory.
func replica(t testing.TB, i int, durations []time.Duration) *Report {
	t.Helper()
	var c probe.Core
	peak := c.Peak(&probe.Desc{Name: "x.memory.peak", Unit: "By", Help: "Highest."})
	if i == 1 {
		peak.Reset(0, "reset") // it is exact
	}
	w, err := c.Watch()
	if err != nil {
		t.Fatal(err)
	}
	route := probe.Attr{Key: "http.route", Value: fmt.Sprintf("/r%d", i%3)}
	served := c.Recorder(&probe.Desc{Name: "x.duration", Unit: "s", Help: "Durations."}, route)
	for _, d := range durations {
		served.Record(int64(d))
	}
	c.Counter(&probe.Desc{Name: "x.requests", Unit: "{request}", Help: "Requests."}).Add(int64(len(durations)))
	c.Gauge(&probe.Desc{Name: "x.memory", Unit: "By", Help: "Memory."}).Set(float64(100 + i))
	peak.Sample(int64(200 + i))
	if i%10 == 0 {
		c.Absent("x.pressure", "no such file")
	}
	c.Emit(probe.Event{Name: "x.stall", Start: time.Unix(int64(i), 0), Duration: time.Second})
	r := new(Report) // not Of, which looks at the machine each time
	r.take(w.Close())
	r.Name, r.Operations = fmt.Sprintf("replica-%d", i), int64(len(durations))
	r.Conditions.Set("version", "1")
	r.Conditions.Set("zone", fmt.Sprint(i%2))
	return r
}

// TestMerge: a thousand replicas are one, whose percentiles are those of all their
// values together.
func TestMerge(t *testing.T) {
	const replicas, each = 1000, 40
	rnd := rand.New(rand.NewPCG(5, 6))
	var all []*Report
	var whole probe.Dist
	for i := range replicas {
		durations := make([]time.Duration, each)
		for k := range durations {
			durations[k] = time.Duration(1e6 * (1 + rnd.ExpFloat64()*float64(1+i%7)))
		}
		all = append(all, replica(t, i, durations))
	}
	for _, r := range all {
		for m := range r.reading.Find("x.duration") {
			if err := whole.Merge(m.Dist); err != nil {
				t.Fatal(err)
			}
		}
	}
	r, err := Merge("fleet", all...)
	if err != nil {
		t.Fatal(err)
	}
	var got probe.Dist
	routes := 0
	for m := range r.reading.Find("x.duration") {
		routes++
		if err := got.Merge(m.Dist); err != nil {
			t.Fatal(err)
		}
	}
	if routes != 3 || !got.Equal(&whole) || whole.Count() != replicas*each {
		t.Errorf("got %d series with %d values, want 3 with the %d of all replicas", routes, got.Count(), whole.Count())
	}
	values := map[string]float64{}
	for _, m := range r.reading.Metrics {
		if m.Dist == nil {
			values[m.Name] = m.Value
		}
	}
	if diff := cmp.Diff(map[string]float64{
		"x.requests": replicas * each,
		"x.memory":   1099, "x.memory.sum": 100*replicas + replicas*(replicas-1)/2,
		"x.memory.peak": 1199, "x.memory.peak.sum": 200*replicas + replicas*(replicas-1)/2,
	}, values); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	if r.Operations != replicas*each || r.Conditions.text(nil) != "version 1, replicas 1,000" {
		t.Errorf("got %d operations, conditions %q", r.Operations, r.Conditions.text(nil))
	}
	if diff := cmp.Diff([]probe.Absent{{Name: "x.pressure", Reason: "in 100 of 1000 replicas: no such file"}}, r.reading.Absent); diff != "" {
		t.Errorf("absent (-want +got):\n%s", diff)
	}
	last := r.reading.Events[len(r.reading.Events)-1]
	if len(r.reading.Events) != mostEvents || r.reading.Dropped != replicas-mostEvents || last.ID != mostEvents ||
		!slices.Contains(last.Attrs, probe.Attr{Key: attrReplica, Value: "replica-999"}) {
		t.Errorf("got %d events, %d dropped, the last %+v", len(r.reading.Events), r.reading.Dropped, last)
	}
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	back, err := Read(&b)
	if diff := cmp.Diff(r, back, equal); err != nil || diff != "" {
		t.Errorf("read back: %v (-want +got):\n%s", err, diff)
	}
}

// TestMergeProvenance: a highest is known as that replica's is, a sum as the least
// certain of all.
func TestMergeProvenance(t *testing.T) {
	r, err := Merge("two", replica(t, 0, nil), replica(t, 1, nil))
	if err != nil {
		t.Fatal(err)
	}
	how := map[string]probe.How{}
	for _, m := range r.reading.Metrics {
		how[m.Name] = m.Prov.How
	}
	if how["x.memory.peak"] != probe.Exact || how["x.memory.peak.sum"] != probe.Sampled || how["x.requests"] != probe.Exact {
		t.Errorf("got %v", how)
	}
}

// TestMergeParts: parts are merged by name, and what cannot be merged says why.
func TestMergeParts(t *testing.T) {
	server, load := replica(t, 0, []time.Duration{1}), replica(t, 1, []time.Duration{2, 3})
	server.Name, load.Name = "server", "load"
	r, err := Merge("both", Join("a", server), Join("b", server, load))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Parts) != 2 || r.Part("server").Operations != 2 || r.Part("load").Operations != 2 {
		t.Errorf("got parts %v", r.Parts)
	}
	digits := func(n int) *Report {
		var c probe.Core
		w, _ := c.Watch()
		c.Recorder(&probe.Desc{Name: "x.d", Unit: "s", Help: "D.", Digits: n}).Record(1)
		return Of(w.Close())
	}
	for want, replicas := range map[string][]*Report{
		"no replicas": nil,
		"merge: again: these are repeats of a variant":                           {Repeat("again", server, server)},
		"merge: replica 2: x.d: probe: merge of distributions of 2 and 3 digits": {digits(2), digits(3)},
	} {
		if _, err := Merge("no", replicas...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
