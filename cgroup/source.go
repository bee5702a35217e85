package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"math"

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

	failed bool // the last sample or tick failed, or there was none yet
	broken bool // one failed, and marks says what follows

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
			return err
		}
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

func (t *tally) set(total uint64) {
	if t.began && total > t.last {
		t.counter.Add(int64((total - t.last) * t.unit))
	}
	t.last, t.began = total, true
}

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
	return proc.ParseUint(b)
}

// flat makes a source of a flat keyed file. use gets the numbers of keys, some
// of which may be absent, after each read; the slice is reused.
func flat(name string, keys []string, use func(v []proc.Value) error) (*source, error) {
	f, err := proc.Open(name)
	if err != nil {
		return new(source), err
	}
	v := make([]proc.Value, len(keys))
	sample := func() error {
		b, err := f.Read()
		if err != nil {
			return err
		}
		if err = proc.ParseFlat(b, keys, v); err == nil {
			err = use(v)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}
	return &source{sample: sample, reopen: f.Reopen, close: closeAll(f)}, nil
}

// reason puts an error into words for a person. Absent, denied and unsupported
// are different answers.
func reason(err error) string {
	switch {
	case errors.Is(err, proc.ErrNoCgroup), errors.Is(err, proc.ErrNoController),
		errors.Is(err, proc.ErrForeignNamespace), errors.Is(err, proc.ErrHidden),
		errors.Is(err, proc.ErrDetached):
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
