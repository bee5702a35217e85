package probetest

import (
	"sync/atomic"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// A sample is a probe that keeps all rules, to be broken.
type sample struct {
	probe.Core
	calls *probe.Counter
	took  *probe.Recorder
	then  func() // after each exercise
}

func newSample() *sample {
	s := new(sample)
	s.calls = s.Counter(&probe.Desc{Name: "sample.calls", Unit: "{call}", Help: "Calls."})
	s.took = s.Recorder(&probe.Desc{Name: "sample.duration", Unit: "s", Help: "Time of a call."})
	return s
}

func exercise(p target) {
	s := p.member().(*sample)
	s.calls.Add(1)
	s.took.Record(1000)
	if s.then != nil {
		s.then()
	}
}

// broken is a subject whose probes are samples that spoil has changed.
func broken(spoil func(*sample)) *subject {
	return &subject{
		active:   true,
		exercise: exercise,
		new: func() target {
			s := newSample()
			spoil(s)
			return real{s}
		},
	}
}

// A false target gives out windows that package probe would not give out.
type falseTarget struct {
	*sample
	open func(*sample) (window, error)
}

func (f falseTarget) member() probe.Probe    { return f.sample }
func (f falseTarget) watch() (window, error) { return f.open(f.sample) }

// tampered is a subject whose windows tamper has changed. It is called per
// probe, and the function that it returns per window.
func tampered(tamper func() func(*sample, window) window) *subject {
	return &subject{
		active:   true,
		exercise: exercise,
		new: func() target {
			change := tamper()
			return falseTarget{newSample(), func(s *sample) (window, error) {
				w, err := s.Watch()
				if err != nil {
					return nil, err
				}
				return change(s, w), nil
			}}
		},
	}
}

// each is for a change that needs to know nothing of the probe's other windows.
func each(change func(window) window) *subject {
	return tampered(func() func(*sample, window) window {
		return func(_ *sample, w window) window { return change(w) }
	})
}

// A falseWindow replaces some of a window's methods.
type falseWindow struct {
	window
	read, next func(*probe.Reading)
	close      func() *probe.Reading
}

func (w falseWindow) Read(r *probe.Reading) {
	if w.read != nil {
		w.read(r)
		return
	}
	w.window.Read(r)
}

func (w falseWindow) Next(r *probe.Reading) {
	if w.next != nil {
		w.next(r)
		return
	}
	w.window.Next(r)
}

func (w falseWindow) Close() *probe.Reading {
	if w.close != nil {
		return w.close()
	}
	return w.window.Close()
}

// onlyFirst gives out one window to all who watch.
func onlyFirst() func(*sample, window) window {
	var first window
	return func(_ *sample, w window) window {
		if first == nil {
			first = w
		}
		return first
	}
}

// describes is a probe with other descriptions than its own.
type describes struct {
	*sample
	descs []*probe.Desc
}

func (d describes) Describe() []*probe.Desc { return d.descs }

func described(descs ...*probe.Desc) *subject {
	return &subject{exercise: func(target) {}, new: func() target { return real{describes{newSample(), descs}} }}
}

// unsupported is a subject whose n-th Watch returns answers[n], the last one for
// ever. A nil answer opens a window.
func unsupported(answers ...error) *subject {
	return broken(func(s *sample) {
		var n atomic.Int32
		s.Start = func() error { return answers[min(int(n.Add(1)), len(answers))-1] }
	})
}

// release lets the goroutines go that a test has left.
var release chan struct{}

func hang(until <-chan struct{}) { <-until }

// twoFaced is another probe as a set's member than alone.
type twoFaced struct {
	falseTarget
	other *sample
}

func (f twoFaced) member() probe.Probe { return f.other }

func watchSample(s *sample) (window, error) { return s.Watch() }

// lately calls f once, but not before the kit has taken its bearings.
func lately(f func()) func() {
	n := 0
	return func() {
		if n++; n == 2*churners {
			f()
		}
	}
}

// within gives the subject's checks less patience.
func (s *subject) within(d time.Duration) *subject {
	s.patience = d
	return s
}

// limited lets only n windows of a probe be open.
func (s *subject) limited(n int, err error) *subject {
	made := s.new
	s.new = func() target {
		p := made().(real).Probe.(*sample)
		open := 0
		return falseTarget{p, func(p *sample) (window, error) {
			if open++; open > n {
				return nil, err
			}
			return p.Watch()
		}}
	}
	return s
}
