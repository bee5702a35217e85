package spikes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/tidestaff/tidestaff/cgroup"
	"github.com/tidestaff/tidestaff/internal/proc"
	"github.com/tidestaff/tidestaff/probe"
)

// peakName is the metric that is studied.
const peakName = "tidestaff.process.memory.peak"

// A way is a probe with a window.
type way struct {
	name    string
	how     probe.How // what its peaks have to say
	options cgroup.Options
	window  *probe.Window
	reading probe.Reading
}

// ways are those of the study, the exact ones first. sandbox is the folder of a
// machine without a high-water mark.
func ways(sandbox string) []*way {
	all := []*way{
		{name: "exact", options: cgroup.Options{Name: "exact"}},
		{name: "exact, NoReset", options: cgroup.Options{Name: "no reset", NoReset: true}},
	}
	for _, every := range []time.Duration{10 * time.Millisecond, 100 * time.Millisecond, time.Second} {
		all = append(all, &way{
			name: "every " + every.String(), how: probe.Sampled,
			options: cgroup.Options{Name: every.String(), Interval: every, Root: sandbox},
		})
	}
	return all
}

// makeSandbox makes the folder: statm is the live one of this process, and
// status has a level, which has to be there, below all of its life.
func makeSandbox(root string) error {
	self := filepath.Join(root, "proc/self")
	if err := os.MkdirAll(self, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(self, "status"), []byte("VmRSS:\t4 kB\n"), 0o644); err != nil {
		return err
	}
	return os.Symlink("/proc/self/statm", filepath.Join(self, "statm"))
}

// Run makes the spikes and watches them. It stops early when ctx is done.
func (s Study) Run(ctx context.Context) (_ *Result, err error) {
	if s.Spikes < 1 || s.Slot < s.MaxHold+5*edge {
		return nil, fmt.Errorf("%d spikes of up to %v in slots of %v: want at least one, and slots %v longer",
			s.Spikes, s.MaxHold, s.Slot, 5*edge)
	}
	root, err := os.MkdirTemp("", "tidestaff-spikes-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(root)) }()
	if err := makeSandbox(root); err != nil {
		return nil, err
	}
	status, err := proc.Open("/proc/self/status")
	if err != nil {
		return nil, err
	}
	defer status.Close()

	debug.FreeOSMemory() // else the runtime does it some time during the study
	all := ways(root)
	r := &Result{}
	for _, w := range all {
		r.Ways = append(r.Ways, w.name)
	}
	whole, end, err := open(all)
	if err != nil {
		return nil, err
	}
	defer end()
	for _, p := range s.plan() {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err := r.measure(p, s.Slot, all, status); err != nil {
			return nil, err
		}
	}
	r.Whole, err = peak(whole.Close())
	r.check()
	return r, err
}

// open opens the windows; whole is one more of the first probe.
func open(all []*way) (whole *probe.Window, end func(), err error) {
	end = func() {
		if whole != nil {
			whole.Close()
		}
		for _, w := range all {
			if w.window != nil {
				w.window.Close()
			}
		}
	}
	for _, w := range all {
		p := cgroup.New(w.options)
		if w.window, err = p.Watch(); err == nil && whole == nil {
			whole, err = p.Watch()
		}
		if err != nil {
			end()
			return nil, nil, err
		}
	}
	return whole, end, nil
}

// measure is one slot.
func (r *Result) measure(p planned, slot time.Duration, all []*way, status *proc.File) error {
	for _, w := range all {
		w.window.Next(&w.reading)
	}
	start := time.Now()
	text, err := status.Read()
	if err != nil {
		return err
	}
	before, err := proc.ParseStatus(text)
	if err != nil {
		return err
	}
	time.Sleep(p.wait)
	rise := time.Now()
	if err := Spike(p.size, p.hold); err != nil {
		return err
	}
	m := Measured{Size: p.size, Hold: p.hold, Took: time.Since(rise), Base: int64(before.RSS.V)}
	time.Sleep(max(slot-time.Since(start), edge))
	for _, w := range all {
		w.window.Next(&w.reading)
		v, err := peak(&w.reading)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		seen := Seen{Peak: v, Prov: provenance(&w.reading)}
		if err := w.expected(seen.Prov, w.reading.End.Sub(w.reading.Start)); err != nil {
			r.Complaints = append(r.Complaints, fmt.Sprintf("spike %d, %s: %v", len(r.Spikes)+1, w.name, err))
		}
		m.Seen = append(m.Seen, seen)
	}
	r.Highest = max(r.Highest, m.Seen[0].Peak)
	r.Spikes = append(r.Spikes, m)
	return nil
}

var errNoPeak = errors.New("no " + peakName)

func peak(r *probe.Reading) (int64, error) {
	for m := range r.Find(peakName) {
		return int64(m.Value), nil
	}
	return 0, fmt.Errorf("%w; absent are %v", errNoPeak, r.Absent)
}

func provenance(r *probe.Reading) probe.Provenance {
	for m := range r.Find(peakName) {
		return m.Prov
	}
	return probe.Provenance{}
}

// expected judges a label. What it says of samples must fit the tile: so many of
// them cannot leave a smaller longest gap, and no gap is longer than the tile.
func (w *way) expected(p probe.Provenance, tile time.Duration) error {
	if p.How != w.how {
		return fmt.Errorf("%+v, want %s", p, w.how)
	}
	if w.how == probe.Exact {
		if p.Samples != 0 || p.MaxGap != 0 || p.Method == "" {
			return fmt.Errorf("%+v, want a method and no samples", p)
		}
		return nil
	}
	if least := tile / time.Duration(p.Samples+1); p.Samples == 0 || p.MaxGap < least-edge || p.MaxGap > tile+edge {
		return fmt.Errorf("%+v, want samples, and a gap of %v to %v", p, least, tile)
	}
	return nil
}

// check compares the window over all spikes with the tiles beside it. Between
// two tiles nothing is lost, so that it has the peak of the highest.
func (r *Result) check() {
	if r.Whole < r.Highest || r.Whole > r.Highest+mib {
		r.Complaints = append(r.Complaints, fmt.Sprintf("the window over all: %d, want the highest tile's %d", r.Whole, r.Highest))
	}
}
