package probe_test

import (
	"context"
	"testing"

	"github.com/tidestaff/tidestaff/probe"
)

func TestSmoke(t *testing.T) {
	var app probe.Core
	hits := app.Counter(&probe.Desc{Name: "app.hits", Unit: "{hit}", Help: "h"})
	lat := app.Recorder(&probe.Desc{Name: "app.latency", Unit: "s", Help: "h"})
	ops := probe.NewOps(probe.OpsOptions{})
	set := probe.NewSet(&app, ops)
	w, err := set.Watch()
	if err != nil {
		t.Fatal(err)
	}
	hits.Add(3)
	lat.Record(1000)
	_, op := ops.Begin(context.Background(), "x")
	op.AddQueries(2, 100, 5)
	op.End(nil)
	r := w.Close()
	for _, m := range r.Metrics {
		t.Log(m.Name, m.Attrs, m.Value, m.Prov, m.Dist)
	}
	probe.Do(context.Background(), "background:x", func(ctx context.Context) {
		done := make(chan *probe.Label)
		go func() { done <- probe.LabelOf(nil) }()
		t.Log(*<-done)
	})
}
