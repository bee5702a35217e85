package fsstat

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// Options are the options of [New]. The zero value works.
type Options struct {
	// Name tells several file probes of one process apart; empty leaves the
	// attribute out.
	Name string
	// MaxSeries bounds the roles that are kept apart; 0 means 500. The rest
	// share the role "(other)".
	MaxSeries int
	// MaxPaths bounds the paths that are kept apart, in series that are details;
	// 0 means 500, and less than 0 none. The rest share the path "(other)". Names
	// that do not exist have a quarter as many places of their own. Six times as
	// many files are compared with what they were; passes over the rest are counted
	// as unknown. A path takes 1 to 3 KB.
	MaxPaths int
	// Path makes of a cleaned path the one under which the file is counted, for
	// names that are made up for each file; nil leaves them as they are. It is
	// called at each open and may be called by several goroutines at once. A path of
	// which it makes nothing stays as it is.
	Path func(path string) string
	// NoIdentity spares the fstat by which a file that was opened is
	// recognised: passes over unchanged files are then unknown, ReadFile's too.
	NoIdentity bool
	// TimeEvery is for every how many reads and writes of a role one is timed and
	// seen by [Probe.Overlapping]; 0 means each, and less than 0 none. All are
	// counted. Other calls are always timed.
	TimeEvery int
	// WatchDirs are folders, without those below them, in which opens that go
	// around the probe are named, by inotify; nil watches none. The opens of other
	// processes are among them.
	WatchDirs []string
	// SkipPackages are import paths of further packages that stand between the
	// service's own code and the files, each with all packages below it. The
	// method that [Probe.Overlapping] names is not looked for in them.
	SkipPackages []string
}

// A Probe counts file operations. It is made by [New].
//
// The methods that open, read and list files are those of package os. On a nil
// Probe they are nothing but those of package os, so that a program can leave
// the probe out without another code path.
type Probe struct {
	core   probe.Core
	roles  *probe.Table[string, series]
	labels *probe.Series[series]

	rows    *probe.Table[string, row] // nil if paths are not told apart
	missing *probe.Table[string, row] // of names at which operations failed
	pasts   *probe.Table[pastKey, past]
	seed    maphash.Seed

	rename   func(string) string
	identify bool
	every    int64         // see Options.TimeEvery
	timed    probe.Counter // the samples of durations
	epoch    atomic.Int64  // counts the times that watching began
	io       processIO
	around   *around // nil if no folders are watched
	notes    notes   // see Opened
}

// defaultPaths is what Options.MaxPaths is if it is 0.
const defaultPaths = 500

// maxLabels is beyond what package probe keeps apart, so that the bound on
// roles is the only one.
const maxLabels = 5000

// New makes a probe. It counts while a window is open.
func New(o Options) *Probe {
	p := &Probe{rename: o.Path, identify: !o.NoIdentity && o.MaxPaths >= 0, every: int64(cmp.Or(o.TimeEvery, 1)), seed: maphash.MakeSeed()}
	p.core.Name, p.core.Activity = o.Name, "file operation"
	p.core.Descs = slices.Concat(descs, pathDescs)
	p.io = processIO{path: "/proc/self/io", core: &p.core}
	p.around = newAround(&p.core, p.io.spent, o.WatchDirs)
	p.core.Start, p.core.Stop, p.core.Sample = p.start, p.stop, p.sample
	if !seesKernel {
		const reason = "whether the kernel copied can be seen on Linux only"
		p.core.Absent(descKernelIO.Name, reason)
		p.core.Absent(descCopies.Name, reason)
	}
	if o.MaxPaths >= 0 {
		most := cmp.Or(o.MaxPaths, defaultPaths)
		p.rows = probe.NewTable(most, other, p.newRow)
		p.missing = probe.NewTable(max(most/missingRows, 1), other, p.newRow)
		p.pasts = probe.NewTable(filesPerPath*min(most, math.MaxInt/filesPerPath), beyond, newPast)
	}
	if !p.identify {
		const reason = "identities are not asked for (Options.NoIdentity, MaxPaths)"
		p.core.Absent(descPasses.Name, reason)
		p.core.Absent(descAvoidable.Name, reason)
	}
	p.roles = probe.NewTable(o.MaxSeries, other, p.newSeries)
	p.labels = probe.NewSeries(maxLabels, func(l *probe.Label) *series { return p.roles.Get(l.Role) })
	p.labels.Skip(o.SkipPackages...)
	return p
}

// start begins to watch.
func (p *Probe) start() error {
	p.epoch.Add(1)
	p.io.start()
	p.around.start()
	return nil
}

func (p *Probe) stop() {
	p.around.stop()
	p.io.stop()
}

func (p *Probe) sample() {
	p.around.sample()
	p.io.sample()
}

// Watch implements [probe.Probe]. A nil Probe has nothing to see, and a
// [probe.Set] says so.
func (p *Probe) Watch() (*probe.Window, error) {
	if p == nil {
		return nil, fmt.Errorf("fsstat: the probe is nil: %w", probe.ErrUnsupported)
	}
	if p.roles == nil {
		return nil, fmt.Errorf("fsstat: the probe is not made by New: %w", probe.ErrUnsupported)
	}
	return p.core.Watch()
}

// Describe implements [probe.Probe].
func (p *Probe) Describe() []*probe.Desc {
	if p == nil {
		return nil
	}
	return p.core.Describe()
}

// Overlapping appends to dst the file operations that overlapped the last d,
// without a lock; see [probe.Core.Overlapping]. Their name is the method that
// made them, and for those of a [File] the one that opened it. A ReadFile is one
// from its open to its last read; a copy by the kernel between two Files is
// two, a read and a write.
func (p *Probe) Overlapping(dst []probe.Overlap, d time.Duration) []probe.Overlap {
	if p == nil {
		return dst
	}
	return p.core.Overlapping(dst, d)
}

// FeedsOps says what the probe adds to operations (see [probe.Ops]): no
// queries, but reads.
func (p *Probe) FeedsOps() (queries, reads bool) { return false, true }

// In is the probe for the work of ctx: its role is that of ctx, else of the
// goroutine, and what is read is added to the operation that ctx carries (see
// [probe.OpOf]), also through files that the view opened.
func (p *Probe) In(ctx context.Context) View {
	if p == nil {
		return View{}
	}
	v := View{probe: p, ctx: ctx, op: probe.OpOf(ctx)}
	if v.watched() {
		v.label = v.who()
	}
	return v
}

// As is the probe for work in a role, whoever does it. It is meant to be kept:
// the role then has counts, zero ones at least, in every window.
func (p *Probe) As(role string) View {
	if p == nil || p.roles == nil {
		return View{}
	}
	p.roles.Get(role)
	return View{probe: p, ctx: probe.WithRole(context.Background(), role)}
}
