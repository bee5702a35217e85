package drive

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// operation is what is kept of one operation's name. Times are offsets from
// the start of the run.
type operation struct {
	name string

	response, service, lateness *probe.Recorder
	due, skipped                *probe.Counter
	failures                    map[Class]*probe.Counter // all of them: none is a measured 0

	nDue, nOver, nGood atomic.Int64 // due; ended or skipped; ended well
	sources            atomic.Int64 // activities that still make it due
	inFlight           atomic.Int64
	closed             atomic.Int64 // when its schedule ended; 0 while it goes on
	last               atomic.Int64 // when the last one ended
}

// operation returns the operation of that name, made on first use.
func (d *Driver) operation(name string) *operation {
	d.mu.Lock()
	defer d.mu.Unlock()
	if op := d.ops[name]; op != nil {
		return op
	}
	attr := probe.Attr{Key: attrOperation, Value: name}
	op := &operation{name: name,
		response: d.core.Recorder(descResponse, attr),
		service:  d.core.Recorder(descService, attr),
		lateness: d.core.Recorder(descLateness, attr),
		due:      d.core.Counter(descDue, attr),
		skipped:  d.core.Counter(descSkipped, attr),
		failures: make(map[Class]*probe.Counter),
	}
	for _, class := range classes {
		op.failures[class] = d.core.Counter(descFailures, attr, probe.Attr{Key: attrErrorType, Value: string(class)})
	}
	d.core.GaugeFunc(descOffered, func() float64 { return op.offered(d.run.Load().now()) }, attr)
	d.core.GaugeFunc(descAchieved, func() float64 { return op.achieved(d.run.Load().now()) }, attr)
	d.ops[name] = op
	return op
}

// comeDue counts a due time.
func (o *operation) comeDue() {
	o.nDue.Add(1)
	o.due.Add(1)
}

// skip counts a due time that is left out.
func (o *operation) skip() {
	o.nOver.Add(1)
	o.skipped.Add(1)
}

// end counts one that ended now, after the response time and with the class
// of its failure, "" for none.
func (o *operation) end(response time.Duration, class Class, now time.Duration) {
	o.response.Record(int64(response))
	if class == "" {
		o.nGood.Add(1)
	} else {
		o.failures[class].Add(1)
	}
	for last := o.last.Load(); int64(now) > last && !o.last.CompareAndSwap(last, int64(now)); {
		last = o.last.Load()
	}
	o.nOver.Add(1)
}

// close notes that one source's schedule has ended at that time.
func (o *operation) close(at time.Duration) {
	for was := o.closed.Load(); int64(at) > was && !o.closed.CompareAndSwap(was, int64(at)); {
		was = o.closed.Load()
	}
	o.sources.Add(-1)
}

// span is how long the operation's schedule has lasted by now.
func (o *operation) span(now time.Duration) time.Duration {
	if at := o.closed.Load(); at > 0 && o.sources.Load() == 0 {
		return time.Duration(at)
	}
	return now
}

// offered is the rate at which it came due; NaN (absent) before the run.
func (o *operation) offered(now time.Duration) float64 {
	return rate(o.nDue.Load(), o.span(now))
}

// achieved is the rate at which it ended well: over its schedule, and longer
// if the last one ended later. The share achieved of offered is then that of
// the runs that ended well and in time.
func (o *operation) achieved(now time.Duration) float64 {
	if o.nOver.Load() == o.nDue.Load() {
		now = max(o.span(now), time.Duration(o.last.Load()))
	}
	return rate(o.nGood.Load(), now)
}

func rate(n int64, d time.Duration) float64 {
	if d <= 0 {
		return math.NaN()
	}
	return float64(n) / d.Seconds()
}
