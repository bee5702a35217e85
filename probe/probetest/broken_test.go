package probetest

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

var good = &probe.Desc{Name: "a.good", Unit: "1", Help: "Good.", Kind: probe.KindGauge}

// breaks are probes that break a rule: which check must notice, and what it must
// say.
var breaks = []struct {
	name    string
	check   string
	want    string
	subject *subject
}{
	{"nothing described", "descriptions", "nothing is described", described()},
	{"nil description", "descriptions", "description 1 is nil", described(good, nil)},
	{"one name twice", "descriptions", "a.good is described twice", described(good, good)},
	{"wrong description", "descriptions", `"a.good": the unit "ms"`, described(&probe.Desc{Name: "a.good", Unit: "ms", Help: "h", Kind: probe.KindGauge})},
	{"one benchmark unit twice", "descriptions", `a.x and a.y are both reported as "x/op"`, described(
		&probe.Desc{Name: "a.x", Unit: "1", Help: "h", Kind: probe.KindGauge, Bench: []probe.Bench{{Unit: "x/op", Stat: "value", Better: "lower"}}},
		&probe.Desc{Name: "a.y", Unit: "1", Help: "h", Kind: probe.KindGauge, Bench: []probe.Bench{{Unit: "x/op", Stat: "value", Better: "lower"}}})},

	{"made when first used", "described before data", "sample.late was not described", broken(func(s *sample) {
		s.then = func() { s.Counter(&probe.Desc{Name: "sample.late", Unit: "1", Help: "h"}).Add(1) }
	})},
	{"described otherwise", "described before data", `sample.calls was described as a gauge in "1"`, &subject{exercise: func(target) {}, new: func() target {
		s := newSample()
		return real{describes{s, []*probe.Desc{s.Describe()[1], {Name: "sample.calls", Unit: "1", Kind: probe.KindGauge}}}}
	}}},

	{"endless gauge", "values", "sample.level: the value is +Inf", broken(func(s *sample) {
		s.GaugeFunc(&probe.Desc{Name: "sample.level", Unit: "1", Help: "h"}, func() float64 { return math.Inf(1) })
	})},
	{"counter goes down", "values", "sample.calls: the counter is -1", broken(func(s *sample) {
		s.then = func() { s.calls.Add(-2) }
	})},

	{"one window at a time", "watch twice", "the second window: in use", broken(func(*sample) {}).limited(1, errors.New("in use"))},
	{"shared window", "watch twice", "this one has 1, after it only 0", tampered(onlyFirst)},
	{"closed by another", "watch twice", "closing one window stopped the other", tampered(func() func(*sample, window) window {
		var all []window
		return func(_ *sample, w window) window {
			all = append(all, w)
			return falseWindow{window: w, close: func() *probe.Reading {
				for _, w := range all[1:] {
					w.Close()
				}
				return w.Close()
			}}
		}
	})},

	{"starts once", "watch again", "window 2: watch: started before", broken(func(s *sample) {
		started := false
		s.Start = func() error {
			if started {
				return errors.New("started before")
			}
			started = true
			return nil
		}
	})},
	{"dead after Stop", "watch again", "window 2: exercise moved no counter", &subject{active: true, new: func() target {
		s := newSample()
		s.Stop = func() { s.calls, s.took = new(probe.Counter), new(probe.Recorder) }
		return real{s}
	}, exercise: exercise}},

	{"second Close is empty", "close twice", "two Closes of one window", each(func(w window) window {
		var once atomic.Bool
		return falseWindow{window: w, close: func() *probe.Reading {
			if once.Swap(true) {
				return new(probe.Reading)
			}
			return w.Close()
		}}
	})},
	{"second Close is nil", "close twice", "returned no reading", each(func(w window) window {
		var once atomic.Bool
		return falseWindow{window: w, close: func() *probe.Reading {
			if r := w.Close(); !once.Swap(true) {
				return r
			}
			return nil
		}}
	})},

	{"closed window reads on", "closed stays closed", "a Read after Close gives another reading", tampered(func() func(*sample, window) window {
		return func(s *sample, w window) window {
			live, _ := s.Watch()
			return falseWindow{window: w, read: live.Read}
		}
	})},
	{"readings share memory", "closed stays closed", "a caller changed its own reading and another saw it", each(func(w window) window {
		last := sync.OnceValue(w.Close)
		return falseWindow{window: w, close: last, read: func(r *probe.Reading) { *r = *last() }}
	})},
	{"Next of a closed window", "closed stays closed", "a Next after Close has 2 metrics", each(func(w window) window {
		return falseWindow{window: w, next: w.Read}
	})},

	{"Stop waits for Sample's lock", "close while collecting", "not done after 100ms", broken(func(s *sample) {
		s.Stop = func() { select {} }
	}).within(100 * time.Millisecond)},
	{"time goes back", "close while collecting", "ends before it starts", each(func(w window) window {
		return falseWindow{window: w, read: func(r *probe.Reading) {
			w.Read(r)
			r.End = r.Start.Add(-1)
		}}
	})},

	{"Read resets", "read twice", "the first reading has 1, the second only 0", each(func(w window) window {
		return falseWindow{window: w, read: func(r *probe.Reading) {
			start := time.Unix(1, 0)
			w.Next(r)
			r.Start = start
		}}
	})},
	{"Read adds", "read twice", "a reading that was read into twice has", each(func(w window) window {
		return falseWindow{window: w, read: func(r *probe.Reading) {
			old := slices.Clone(r.Metrics)
			*r = probe.Reading{}
			w.Read(r)
			for i := range old {
				r.Metrics[i].Value += old[i].Value
			}
		}}
	})},
	{"start moves", "read twice", "readings of one window start at", each(func(w window) window {
		return falseWindow{window: w, read: func(r *probe.Reading) {
			w.Read(r)
			r.Start = time.Now()
		}}
	})},

	{"nested window is blind", "nested windows", "its start and the inner window", tampered(func() func(*sample, window) window {
		n := 0
		return func(_ *sample, w window) window {
			if n++; n > 1 {
				w.Close()
			}
			return w
		}
	})},
	{"nested window sees all", "nested windows", "what was before and the inner window", tampered(onlyFirst)},
	{"nested maximum", "nested windows", "the inner window has an exact maximum of 9", tampered(func() func(*sample, window) window {
		level := 10.0
		peak := &probe.Desc{Name: "sample.peak", Unit: "1", Help: "h", Kind: probe.KindPeak}
		return func(_ *sample, w window) window {
			level--
			mine := 17 - level // 8 in the first window, 9 in the next
			return falseWindow{window: w, close: func() *probe.Reading {
				r := w.Close()
				r.Metrics = append(r.Metrics, probe.Metric{Desc: peak, Value: mine})
				return r
			}}
		}
	})},

	{"window since the start", "later window", "what was before and the later window", tampered(onlyFirst)},

	{"Next keeps its base", "tiles", "the window around them only", each(func(w window) window {
		return falseWindow{window: w, next: w.Read}
	})},
	{"Next loses", "tiles", "the window inside has", each(func(w window) window {
		return falseWindow{window: w, next: func(r *probe.Reading) {
			w.Next(r)
			w.Next(new(probe.Reading))
			r.Metrics = r.Metrics[:0]
		}}
	})},
	{"gap between intervals", "tiles", "interval 2 starts at", each(func(w window) window {
		return falseWindow{window: w, next: func(r *probe.Reading) {
			w.Next(r)
			r.End = r.End.Add(1)
		}}
	})},

	{"goroutine left", "nothing left", "a goroutine is left:\ngoroutine", broken(func(s *sample) {
		s.Stop = lately(func() { go hang(release) })
	})},
	{"memory left", "nothing left", "the heap grew in every one of 4 rounds", tampered(func() func(*sample, window) window {
		var mu sync.Mutex
		var all []window
		return func(_ *sample, w window) window {
			mu.Lock()
			defer mu.Unlock()
			all = append(all, w)
			return w
		}
	})},

	{"other numbers in a set", "in a set", "one over the set around it only", &subject{
		active:   true,
		exercise: func(p target) { p.(twoFaced).sample.calls.Add(1) },
		new:      func() target { return twoFaced{falseTarget{newSample(), watchSample}, newSample()} },
	}},

	{"nameless twins", "two of a kind", "sample.late is there twice", broken(func(s *sample) {
		*s = sample{calls: new(probe.Counter), took: new(probe.Recorder)}
		s.then = func() { s.Counter(&probe.Desc{Name: "sample.late", Unit: "1", Help: "h"}).Add(1) }
	})},

	{"works the second time", "unsupported always", "a Watch opened a window", unsupported(probe.ErrUnsupported, nil)},
	{"another answer", "unsupported always", "a Watch returned watch: denied", unsupported(probe.ErrUnsupported, errors.New("denied"))},
	{"not absent", "absent from a set", "absent are []", unsupported(nil)},
	{"goroutine left of a refusal", "nothing left of a refusal", "a goroutine is left:\ngoroutine", broken(func(s *sample) {
		leak := lately(func() { go hang(release) })
		s.Start = func() error { leak(); return probe.ErrUnsupported }
	})},
}

func TestBreaks(t *testing.T) {
	release = make(chan struct{}) // one for each run, as -count has several
	defer close(release)
	all := slices.Concat(checks, unsupportedChecks)
	noticed := map[string]bool{}
	for _, b := range breaks {
		t.Run(b.name, func(t *testing.T) {
			i := slices.IndexFunc(all, func(c check) bool { return c.name == b.check })
			if i < 0 {
				t.Fatalf("no check %q", b.check)
			}
			noticed[b.check] = true
			err := all[i].over(b.subject)
			if err == nil || !strings.Contains(err.Error(), b.want) {
				t.Errorf("%s: got error %v, want one with %q", b.check, err, b.want)
			}
		})
	}
	for _, c := range all {
		if !noticed[c.name] {
			t.Errorf("no broken probe shows that %q can fail", c.name)
		}
	}
}

// TestFileLeft is apart, since descriptors are counted on Linux only.
func TestFileLeft(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("descriptors are counted on Linux only")
	}
	var left *os.File
	err := checkNothingLeft(broken(func(s *sample) {
		s.Stop = lately(func() { left, _ = os.Open(os.DevNull) })
	}))
	left.Close()
	if want := fmt.Sprintf("-> %s", os.DevNull); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got error %v, want one with %q", err, want)
	}
}
