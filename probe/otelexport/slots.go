package otelexport

import (
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/tidestaff/tidestaff/probe"
)

// slots give the peaks of the last while to any number of readers, none of which
// takes one away from another: those of the slot that goes on and of the one before
// it. A slot ends by the clock, when somebody looks.
type slots struct {
	every time.Duration

	mu     sync.Mutex
	window *probe.Window
	began  int64 // probe.Now of the slot's beginning
	now    probe.Reading
	before map[seriesKey]peak
}

// A seriesKey tells series apart.
type seriesKey struct {
	metric string
	attrs  attribute.Distinct
}

// A peak is the highest level of one series.
type peak struct {
	desc  *probe.Desc
	set   attribute.Set
	value float64
}

func newSlots(p probe.Probe, every time.Duration) (*slots, error) {
	w, err := p.Watch()
	if err != nil {
		return nil, err
	}
	return &slots{every: every, window: w, began: probe.Now()}, nil
}

// read is the peaks of the slot that goes on and of the one before.
func (s *slots) read() map[seriesKey]peak {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := probe.Now()
	ended := time.Duration(now-s.began) >= s.every
	if ended {
		s.window.Next(&s.now)
		s.began = now
	} else {
		s.window.Read(&s.now)
	}
	current := map[seriesKey]peak{}
	for i := range s.now.Metrics {
		m := &s.now.Metrics[i]
		if m.Kind == probe.KindPeak {
			set := setOf(m.Attrs)
			current[seriesKey{m.Name, set.Equivalent()}] = peak{m.Desc, set, m.Value}
		}
	}
	all := map[seriesKey]peak{}
	for _, slot := range []map[seriesKey]peak{s.before, current} {
		for key, p := range slot {
			if old, ok := all[key]; !ok || p.value > old.value {
				all[key] = p
			}
		}
	}
	if ended {
		s.before = current
	}
	return all
}

// close closes the window. There may be none yet.
func (s *slots) close() {
	if s != nil {
		s.window.Close()
	}
}
