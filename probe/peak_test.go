package probe

import (
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
			want: map[string]want{"a": {300, Exact, "sampled"}},
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
