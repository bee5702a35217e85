package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"time"

	"github.com/tidestaff/tidestaff/internal/proc"
	"github.com/tidestaff/tidestaff/probe"
)

// file is what the probe needs of a kept kernel file; tests put a kernel of
// their own behind it.
type file interface {
	Read() ([]byte, error)
	Write([]byte) error
	Close() error
}

// A source reads one kernel file, or a few that belong together, for the
// metrics that come from it. The probe's lock is held while it is called.
type source struct {
	metrics []*probe.Desc // absent while the source fails
	decides []*probe.Desc // the same, and sample itself lists them otherwise

	// marks says that a peak among the metrics rests on a mark of the kernel,
	// which after a failure has an older maximum than that of the windows that
	// were opened since. Such a peak stays absent until the last window closes.
	marks bool

	// rich says that the file is dear: it is read at every tenth tick beside the
	// boundaries. every is the least time between two readings of what seldom
	// changes, such as a limit; 0 means at each boundary.
	rich  bool
	every time.Duration
	due   int64 // probe.Now of the next reading, with every

	// spans says that the process was moved between groups while windows were
	// open: their peaks would be of two groups.
	spans bool

	failed bool // the last sample or tick failed, or there was none yet
	broken bool // one failed, and marks says what follows
	gone   bool // the last failure was a removed group's

	// sample brings the metrics up to date at a boundary of a window. While it
	// fails it is called again at each boundary.
	sample func() error
	// reopen makes good for descriptors that are dead; it is called before a
	// sample that follows a failure. It may be nil.
	reopen func() error
	// tick looks at a level between boundaries. Nil where the kernel keeps the
	// peak, so that no goroutine is needed.
	tick func() error
	// close closes the files. It may be nil.
	close func()
}

// again is a sample at a boundary, whatever happened at the one before.
func (s *source) again() error {
	if s.failed && s.reopen != nil {
		if err := s.reopen(); err != nil {
			if s.gone && errors.Is(err, fs.ErrNotExist) {
				err = fmt.Errorf("%w: %w", proc.ErrDetached, err) // not "this kernel has no such file"
			}
			return err
		}
	}
	if s.every > 0 {
		now := probe.Now()
		if now < s.due && !s.failed {
			return nil
		}
		s.due = now + int64(s.every)
	}
	return s.sample()
}

// end closes the source.
func (s *source) end() {
	if s.close != nil {
		s.close()
	}
}

// set sets a gauge to a number that may be absent.
func set(g *probe.Gauge, v proc.Value) {
	if v.OK {
		g.Set(float64(v.V))
	} else {
		g.Set(math.NaN())
	}
}

// A tally feeds a counter from a total that the kernel has kept since before
// the probe was started. It adds differences, so that a total which begins anew
// (the process was moved to another group) is not a step back.
type tally struct {
	counter *probe.Counter
	last    uint64
	began   bool
	unit    uint64 // nanoseconds, or 1 for pieces
}

// tally makes the tally of a counter that comes in units.
func (p *Probe) tally(d *probe.Desc, unit uint64, attrs ...probe.Attr) *tally {
	return &tally{counter: p.core.Counter(d, attrs...), unit: unit}
}

func (t *tally) set(total uint64) {
	if t.began && total > t.last {
		t.counter.Add(int64(min(total-t.last, math.MaxInt64/t.unit) * t.unit))
	}
	t.last, t.began = total, true
}

// level is a level for a Peak. No machine has one above 8 EiB, but a file may.
func level(v uint64) int64 { return int64(min(v, math.MaxInt64)) }

// closeAll closes files, of which some may be nil. Its result may be called once.
func closeAll(files ...*proc.File) func() {
	return func() {
		for _, f := range files {
			_ = f.Close() // nothing was written that could be lost
		}
	}
}

// readUint reads a file that holds one number.
func readUint(f file) (uint64, error) {
	b, err := f.Read()
	if err != nil {
		return 0, err
	}
	v, err := proc.ParseUint(b)
	return v, about(f, err)
}

// about says which file's text an error is about.
func about(f file, err error) error {
	if kept, ok := f.(*proc.File); ok {
		return kept.About(err)
	}
	return err // a test's
}

// text makes a source of a file. use gets its text at each reading.
func text(name string, use func(b []byte) error) (*source, error) {
	f, err := proc.Open(name)
	if err != nil {
		return new(source), err
	}
	sample := func() error {
		b, err := f.Read()
		if err != nil {
			return err
		}
		if err = use(b); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}
	return &source{sample: sample, reopen: f.Reopen, close: closeAll(f)}, nil
}

// flat makes a source of a flat keyed file. use gets the numbers of keys, some
// of which may be absent, at each reading; the slice is reused.
func flat(name string, keys []string, use func(v []proc.Value) error) (*source, error) {
	v := make([]proc.Value, len(keys))
	return text(name, func(b []byte) error {
		if err := proc.ParseFlat(b, keys, v); err != nil {
			return err
		}
		return use(v)
	})
}

// reopenAll opens files by their paths anew.
func reopenAll(files []*proc.File) error {
	for _, f := range files {
		if err := f.Reopen(); err != nil {
			return err
		}
	}
	return nil
}

// reason puts an error into words for a person. Absent, denied and unsupported
// are different answers.
func reason(err error) string {
	switch {
	case errors.Is(err, proc.ErrNoCgroup), errors.Is(err, proc.ErrNoController),
		errors.Is(err, proc.ErrForeignNamespace), errors.Is(err, proc.ErrHidden),
		errors.Is(err, proc.ErrDetached):
		return err.Error()
	case errors.Is(err, proc.ErrNotInVersion1), errors.Is(err, proc.ErrEnded):
		return err.Error()
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Sprintf("not provided by this kernel: %v", err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Sprintf("denied: %v", err)
	case errors.Is(err, errors.ErrUnsupported):
		return fmt.Sprintf("switched off in this kernel: %v", err)
	}
	return err.Error()
}
