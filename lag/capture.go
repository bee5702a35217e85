package lag

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// Capture are the options of captures: files that are written when there was a
// stall, and named in its event. The zero value takes none.
//
// Captures are taken one at a time on a goroutine of their own, which exists
// while a window is open. A goroutine profile is taken as soon as the stall is
// seen, which a stall of the run queue or of a loop is while it is going on; a
// trace when it is over. The event waits for them. What cannot be captured is a
// reason in the event and nothing else.
type Capture struct {
	// Dir is the folder of the files, made by the first one, for the owner
	// alone. Empty means no captures. Files in it whose names are not those of
	// captures are left alone.
	Dir string
	// Trace is the service's own flight recorder, which must have been started
	// and must not be stopped while a window is open: its Stop may not run
	// beside its WriteTo. Nil means no traces, unless StartTrace is set.
	Trace FlightRecorder
	// StartTrace keeps a flight recorder of our own running while a window is
	// open: the last 5 s, about 4 MiB. It costs CPU time for every event that the
	// runtime traces, and more memory than its 4 MiB, so that a peak of memory that
	// is measured meanwhile is higher. There can be one in a process; if there is
	// one already, that is the reason in the events.
	StartTrace bool
	// Goroutines takes a goroutine profile, with the goroutines' labels.
	Goroutines bool
	// MaxGoroutines is the number of goroutines above which no profile is
	// taken: it stops the world, the longer the more there are. 0 means 10,000.
	MaxGoroutines int
	// Cooldown is the least time between two stalls that are captured. 0 means
	// 30 s.
	Cooldown time.Duration
	// MaxFiles and MaxBytes bound what is kept in Dir, the oldest go first. While
	// a file is being written there may be that one more; no file is larger than
	// MaxBytes. 0 means 20 files and 256 MiB.
	MaxFiles int
	MaxBytes int64
}

// A FlightRecorder is what captures need of a [runtime/trace.FlightRecorder].
type FlightRecorder interface {
	// Enabled tells whether it records.
	Enabled() bool
	// WriteTo writes what it holds. It fails if another WriteTo is going on.
	WriteTo(w io.Writer) (n int64, err error)
}

// The kinds of captures, which are also the ends of the files' names.
const (
	kindGoroutines = "goroutines"
	kindTrace      = "trace"
)

// on says whether anything is to be captured.
func (o *Capture) on() bool { return o.Dir != "" }

// traces says whether traces are.
func (o *Capture) traces() bool { return o.Trace != nil || o.StartTrace }

// kinds are what is to be captured.
func (o *Capture) kinds() (kinds []string) {
	if o.Goroutines {
		kinds = append(kinds, kindGoroutines)
	}
	if o.traces() {
		kinds = append(kinds, kindTrace)
	}
	return kinds
}

// check refuses options that contradict each other.
func (o *Capture) check(threshold time.Duration) error {
	switch {
	case o.MaxGoroutines < 0 || o.Cooldown < 0 || o.MaxFiles < 0 || o.MaxBytes < 0:
		return errors.New("Options.Capture has a negative limit")
	case !o.on() && len(o.kinds()) > 0:
		return errors.New("Options.Capture has no Dir")
	case !o.on():
		return nil
	case len(o.kinds()) == 0:
		return fmt.Errorf("Options.Capture has the Dir %q and nothing to capture", o.Dir)
	case o.Trace != nil && o.StartTrace:
		return errors.New("Options.Capture has both a Trace and StartTrace")
	case threshold == 0:
		return errors.New("Options.Capture is set, but with a negative Options.Threshold there are no stalls")
	}
	return nil
}

// withDefaults are the options with their limits filled in.
func (o Capture) withDefaults() Capture {
	o.MaxGoroutines = cmp.Or(o.MaxGoroutines, 10_000)
	o.Cooldown = cmp.Or(o.Cooldown, 30*time.Second)
	o.MaxFiles = cmp.Or(o.MaxFiles, 20)
	o.MaxBytes = cmp.Or(o.MaxBytes, 256<<20)
	return o
}

// A CaptureFile is one capture of a stall, or the reason why there is none.
type CaptureFile struct {
	Kind string // "goroutines" or "trace"
	// Path is the file, Bytes its size. They are empty if there is none.
	Path  string
	Bytes int64
	// After is from the stall's start until the capture was begun. One that is
	// less than the stall's Duration shows the stall itself.
	After time.Duration
	// Reason says why there is no file.
	Reason string
}

// captured adds the captures of a stall to its event, and how long captures went
// on during it, this one's or an earlier one's.
func captured(e *probe.Event, files []CaptureFile, overlap time.Duration) {
	a := attrs(e.Attrs)
	for _, f := range files {
		key := "capture." + f.Kind
		if f.Reason != "" {
			a.text(key+".reason", f.Reason)
			continue
		}
		a.text(key, f.Path)
		a.count(key+".bytes", f.Bytes)
		a.seconds(key+".after", f.After)
	}
	if overlap > 0 {
		a.seconds("capture.overlap", overlap)
		if float64(overlap) >= leastWeight*float64(e.Duration) {
			e.Text += fmt.Sprintf("; captures were taken for %s of it", short(overlap))
		}
	}
	e.Attrs = a
}

// capturesOf reads them back.
func capturesOf(v attrValues) (files []CaptureFile) {
	for _, kind := range []string{kindGoroutines, kindTrace} {
		key := "capture." + kind
		f := CaptureFile{Kind: kind, Path: v[attrPrefix+key], Reason: v[attrPrefix+key+".reason"]}
		if f.Path == "" && f.Reason == "" {
			continue
		}
		f.Bytes, _ = strconv.ParseInt(v[attrPrefix+key+".bytes"], 10, 64)
		f.After = v.duration(key + ".after")
		files = append(files, f)
	}
	return files
}
