package lag

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"slices"
	"sync"
	"time"
)

const (
	// maxCaptures bounds the stalls whose captures are not done, and with them
	// the worker's queue: each has at most two jobs in it.
	maxCaptures = 4
	// captureWait is how long the end of a track waits for a recorder that does
	// not return. What it hangs in is left behind.
	captureWait = 5 * time.Second
	// ownTraceAge and ownTraceBytes are what our own recorder holds.
	ownTraceAge   = 5 * time.Second
	ownTraceBytes = 4 << 20
)

// captures takes the captures of a track's stalls on one goroutine. A nil one
// takes none.
type captures struct {
	o     Capture
	whose string // part of the files' names
	now   func() int64
	store store

	trace   FlightRecorder        // nil if there is none, for the reason noTrace
	own     *trace.FlightRecorder // the same, if it is ours to stop
	noTrace string

	jobs    chan func()
	ended   chan struct{}
	stopper *stopper // told of profiles; the ticker's, once there is one

	mu       sync.Mutex
	closed   bool       // nobody takes jobs any more
	pending  []*capture // admitted and not done
	last     int64      // when one was admitted
	admitted bool
	spans    [4]span // when captures were taken lately; a stall has two
	n        int
}

// A capture is what belongs to one stall. Its fields but for the first are under
// captures.mu.
type capture struct {
	base    string // of the files' names
	start   int64  // of the stall
	refused string // why there are no captures
	files   []CaptureFile
	over    bool                // the stall is
	emit    func([]CaptureFile) // makes the event, once it is over; nil when that was done
	done    chan struct{}       // closed when the event is made
}

// newCaptures starts the worker, and the recorder if we are asked for one.
func newCaptures(o Capture, whose string, now func() int64) *captures {
	if !o.on() {
		return nil
	}
	o = o.withDefaults()
	c := &captures{
		o: o, whose: whose, now: now, store: store{o.Dir, o.MaxFiles, o.MaxBytes}, trace: o.Trace,
		jobs: make(chan func(), 2*maxCaptures), ended: make(chan struct{}), stopper: new(stopper),
	}
	if o.StartTrace { // before there is a worker: Start may not run beside WriteTo either
		own := trace.NewFlightRecorder(trace.FlightRecorderConfig{MinAge: ownTraceAge, MaxBytes: ownTraceBytes})
		if err := own.Start(); err != nil {
			c.noTrace = err.Error()
		} else {
			c.trace, c.own = own, own
		}
	}
	go c.run()
	return c
}

// run is the worker. Our own recorder is stopped here, because Stop may not run
// beside WriteTo.
func (c *captures) run() {
	defer close(c.ended)
	for job := range c.jobs {
		job()
	}
	if c.own != nil {
		c.own.Stop()
	}
}

// end lets the worker finish what it was asked for.
func (c *captures) end() {
	if c == nil {
		return
	}
	c.mu.Lock()
	c.closed = true
	close(c.jobs)
	c.mu.Unlock()
	timeout := time.NewTimer(captureWait)
	defer timeout.Stop()
	select {
	case <-c.ended:
	case <-timeout.C:
	}
}

// begin decides whether the stall of that number, which began at start, is
// captured, and if so asks for a profile. It never waits.
func (c *captures) begin(id uint64, start int64) *capture {
	now := c.now()
	x := &capture{start: start, done: make(chan struct{})}
	c.mu.Lock()
	defer c.mu.Unlock()
	if x.refused = c.refusal(start, now); x.refused != "" {
		return x
	}
	x.base = captureBase(time.Now().Add(-time.Duration(now-start)), c.whose, id)
	// From here on there is room in the queue: two jobs for each of the pending.
	c.last, c.admitted = now, true
	c.pending = append(c.pending, x)
	if c.o.Goroutines {
		c.jobs <- func() { c.take(x, kindGoroutines, c.profile) }
	}
	return x
}

// refusal is why a stall is not captured, under mu. One that another capture is
// to blame for must not lead to the next.
func (c *captures) refusal(start, now int64) string {
	switch {
	case c.closed:
		return "the last window was closed"
	case 2*max(c.overlap(start, now), c.stopper.lastProfile().within(start, now)) > now-start:
		return "another capture was being taken for most of the stall"
	case c.admitted && now-c.last < int64(c.o.Cooldown):
		return fmt.Sprintf("the last capture was less than %v ago", c.o.Cooldown)
	case len(c.pending) >= maxCaptures:
		return fmt.Sprintf("%d captures were not done yet", maxCaptures)
	}
	return ""
}

// finish asks for a trace and for the event after it. If the stall was refused,
// emit is called at once.
func (c *captures) finish(x *capture, emit func([]CaptureFile)) {
	if x.refused != "" {
		emit(c.without(nil, x.refused))
		close(x.done)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	x.over, x.emit = true, emit // a Close that does not want to wait may make the event
	if c.closed {               // the track's ticker serves others, and came back late
		return
	}
	c.jobs <- func() {
		if c.o.traces() {
			c.take(x, kindTrace, c.record)
		}
		c.deliver(x, "")
		c.mu.Lock()
		defer c.mu.Unlock()
		c.pending = slices.DeleteFunc(c.pending, func(o *capture) bool { return o == x })
	}
}

// deliver makes the event, once, with a reason for what is not there.
func (c *captures) deliver(x *capture, missing string) {
	c.mu.Lock()
	emit, files := x.emit, slices.Clone(x.files)
	x.emit = nil
	c.mu.Unlock() // the event goes to the windows, which have locks of their own
	if emit != nil {
		emit(c.without(files, missing))
		close(x.done)
	}
}

// settle waits for the events of the stalls that are over. After the limit they
// are made without what is not done.
func (c *captures) settle(limit time.Duration) {
	if c == nil {
		return
	}
	timeout := time.NewTimer(limit)
	defer timeout.Stop()
	c.mu.Lock()
	pending := slices.DeleteFunc(slices.Clone(c.pending), func(x *capture) bool { return !x.over })
	c.mu.Unlock()
	late := false
	for _, x := range pending {
		if !late {
			select {
			case <-x.done:
			case <-timeout.C:
				late = true
			}
		}
		if late {
			c.deliver(x, "not done when a window closed")
		}
	}
}

// soFar is what is known of a stall that is going on.
func (c *captures) soFar(x *capture) []CaptureFile {
	if x.refused != "" {
		return c.without(nil, x.refused)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.without(slices.Clone(x.files), "the stall has not ended")
}

// without adds a reason for each kind that is asked for and not there.
func (c *captures) without(files []CaptureFile, reason string) []CaptureFile {
	for _, kind := range c.o.kinds() {
		if !slices.ContainsFunc(files, func(f CaptureFile) bool { return f.Kind == kind }) {
			files = append(files, CaptureFile{Kind: kind, Reason: reason})
		}
	}
	return files
}

// take takes one capture, on the worker. Whatever goes wrong is a reason.
func (c *captures) take(x *capture, kind string, fill func(io.Writer) error) {
	from := c.now()
	c.mu.Lock()
	at := c.n % len(c.spans)
	c.spans[at] = span{from: from, open: true}
	c.n++
	c.mu.Unlock()

	f := CaptureFile{Kind: kind, After: time.Duration(from - x.start)}
	var err error
	if f.Path, f.Bytes, err = c.store.write(x.base, kind, guarded(fill)); err != nil {
		f = CaptureFile{Kind: kind, Reason: err.Error()}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	// The span includes the write to the disk, which is no stop of the world but does
	// use a processor and the disk.
	c.spans[at] = span{from: from, to: c.now()}
	x.files = append(x.files, f)
}

// guarded makes an error of a panic: a recorder's mistake is not the service's.
func guarded(fill func(io.Writer) error) func(io.Writer) error {
	return func(w io.Writer) (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panicked: %v", p)
			}
		}()
		return fill(w)
	}
}

// profile is the goroutine profile, in the format of pprof, with labels. It is
// put together in memory, so that the disk has no part in the time of the stop.
func (c *captures) profile(w io.Writer) error {
	// The world stands still for a microsecond or two for each.
	if n := runtime.NumGoroutine(); n > c.o.MaxGoroutines {
		return fmt.Errorf("%d goroutines, more than Options.Capture.MaxGoroutines, %d", n, c.o.MaxGoroutines)
	}
	from := c.now()
	c.stopper.last.Store(&span{from: from, open: true})
	var b bytes.Buffer
	err := pprof.Lookup("goroutine").WriteTo(&b, 0)
	c.stopper.last.Store(&span{from: from, to: c.now()})
	if err != nil {
		return err
	}
	_, err = b.WriteTo(w)
	return err
}

// record writes what the flight recorder holds.
func (c *captures) record(w io.Writer) error {
	if c.trace == nil {
		return errors.New(c.noTrace)
	}
	// The service may stop its recorder, though not while we write.
	if !c.trace.Enabled() {
		return errors.New("the flight recorder is not running")
	}
	_, err := c.trace.WriteTo(w)
	return err
}
