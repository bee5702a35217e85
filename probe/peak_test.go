package probe

import (
	"reflect"
	"testing"
)

// TestPeak plays what a sampler observes to nested windows. Observations are in
// MiB over a level of 140; "reset" is the maximum since the previous one.
func TestPeak(t *testing.T) {
	type want struct {
		value float64
		how   How
		meth  string
	}
	for _, c := range []struct {
		name         string
		play         func(p *Peak, open func(name string), close func(name string))
		want         map[string]want
		absentWindow string
	}{
		{
			name: "reset at every boundary",
			play: func(p *Peak, open, close func(string)) {
				p.Reset(500, "reset") // before any window
				open("a")
				p.Reset(242, "reset") // a's spike of 100
				open("b")
				p.Reset(162, "reset")
				open("c")
				p.Reset(202, "reset") // a spike of 60 in all three
				close("c")
				p.Reset(150, "reset")
				close("b")
				p.Reset(141, "reset")
				close("a")
			},
			want: map[string]want{"a": {242, Exact, "reset"}, "b": {202, Exact, "reset"}, "c": {202, Exact, "reset"}},
		},
		{
			name: "a lifetime maximum that rises beats any later sample",
			play: func(p *Peak, open, close func(string)) {
				p.Lifetime(300, "rose")
				open("a")
				p.Sample(200)
				p.Lifetime(400, "rose")
				p.Sample(350)
				open("b")
				p.Sample(350)
				p.Lifetime(400, "rose")
				close("b")
				close("a")
			},
			want: map[string]want{"a": {400, Exact, "rose"}, "b": {350, Sampled, "sampled"}},
		},
		{
			name: "a sample that reaches the lifetime maximum is exact",
			play: func(p *Peak, open, close func(string)) {
				p.Lifetime(300, "rose")
				open("a")
				p.Sample(300)
				p.Lifetime(300, "rose")
				close("a")
			},
			want: map[string]want{"a": {300, Exact, "lifetime's peak reached"}},
		},
		{
			name: "looks between resets raise the peak and leave its label",
			play: func(p *Peak, open, close func(string)) {
				p.Reset(100, "reset")
				open("a")
				p.Sample(130)
				p.Reset(120, "reset")
				open("b")
				p.Reset(140, "reset")
				p.Sample(150)
				close("b")
				close("a")
			},
			want: map[string]want{"a": {150, Exact, "reset"}, "b": {150, Exact, "reset"}},
		},
		{
			name: "a reset that is refused later",
			play: func(p *Peak, open, close func(string)) {
				p.Reset(100, "reset")
				open("a")
				p.Reset(120, "reset")
				p.Lifetime(180, "rose") // since the last reset: still exact for a
				open("b")
				p.Sample(150)
				p.Lifetime(180, "rose")
				close("b")
				close("a")
			},
			want: map[string]want{"a": {180, Exact, "rose"}, "b": {150, Sampled, "sampled"}},
		},
		{
			name: "the first reset falls into the window",
			play: func(p *Peak, open, close func(string)) {
				p.Lifetime(300, "rose")
				open("rose")
				open("hidden")
				p.Sample(120)
				close("hidden")
				p.Reset(320, "reset")
				p.Reset(150, "reset")
				close("rose")
			},
			want: map[string]want{"rose": {320, Exact, "reset"}, "hidden": {120, Sampled, "sampled"}},
		},
		{
			name: "somebody else sets a lifetime's maximum back",
			play: func(p *Peak, open, close func(string)) {
				p.Lifetime(300, "rose")
				open("a")
				p.Lifetime(400, "rose") // and then it rose to 500, and was set back
				p.Lost()
				p.Lifetime(100, "rose")
				p.Sample(90)
				open("b")
				p.Lifetime(120, "rose")
				p.Sample(80)
				close("b")
				p.Lifetime(450, "rose")
				close("a")
			},
			want: map[string]want{"a": {450, Sampled, "rose"}, "b": {120, Exact, "rose"}},
		},
		{
			name: "samples alone",
			play: func(p *Peak, open, close func(string)) {
				open("a")
				p.Sample(10)
				p.Sample(30)
				p.Sample(20)
				close("a")
			},
			want: map[string]want{"a": {30, Sampled, "sampled"}},
		},
		{
			name: "nothing was observed",
			play: func(_ *Peak, open, close func(string)) {
				open("none")
				close("none")
			},
			absentWindow: "none",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var core Core
			p := core.Peak(testPeak)
			windows := map[string]*Window{}
			got := map[string]want{}
			open := func(name string) { windows[name] = watch(t, &core) }
			closing := func(name string) {
				r := windows[name].Close()
				for m := range r.Find("test.peak") {
					got[name] = want{m.Value, m.Prov.How, m.Prov.Method}
					if m.Prov.How == Sampled && (m.Prov.Samples == 0 || m.Prov.MaxGap <= 0) {
						t.Errorf("%s: sampled without samples or gap: %+v", name, m.Prov)
					}
				}
			}
			c.play(p, open, closing)
			for name, w := range c.want {
				if got[name] != w {
					t.Errorf("window %s: got %v, want %v", name, got[name], w)
				}
			}
			if _, ok := got[c.absentWindow]; ok {
				t.Errorf("window %s has a peak, want it absent", c.absentWindow)
			}
		})
	}
}

// TestPeakNext: an interval begins where the last one ended.
func TestPeakNext(t *testing.T) {
	var core Core
	p := core.Peak(testPeak)
	p.Reset(0, "reset")
	w := watch(t, &core)
	var r Reading
	for _, v := range []int64{50, 20, 70} {
		p.Reset(v, "reset")
		w.Next(&r)
		if got := value(t, &r, "test.peak"); got != float64(v) {
			t.Errorf("interval's peak = %v, want %d", got, v)
		}
	}
}

// TestPeakMeasured: of peaks that were measured elsewhere a window has the
// highest that was reported in it, and how that one is known.
func TestPeakMeasured(t *testing.T) {
	var core Core
	p := core.Peak(testPeak)
	polled := Provenance{How: Sampled, Method: "polled", Samples: 12, MaxGap: 7}
	p.Measured(90, Provenance{Method: "mark"})
	a := watch(t, &core)
	p.Measured(40, polled)
	b := watch(t, &core)
	p.Measured(60, polled)
	p.Measured(50, Provenance{Method: "mark"})
	check := func(what string, r *Reading, want ...Metric) {
		t.Helper()
		var got []Metric
		for m := range r.Find("test.peak") {
			got = append(got, Metric{Value: m.Value, Prov: m.Prov})
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, want %v", what, got, want)
		}
	}
	var r Reading
	b.Next(&r)
	check("b, first", &r, Metric{Value: 60, Prov: polled})
	p.Measured(30, Provenance{Method: "mark"})
	b.Next(&r)
	check("b, second", &r, Metric{Value: 30, Prov: Provenance{Method: "mark"}})
	check("b, nothing ended", b.Close())
	check("a", a.Close(), Metric{Value: 60, Prov: polled})
}
