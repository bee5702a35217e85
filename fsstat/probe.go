package fsstat

import (
	"context"
	"io/fs"
	"os"
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
}

// maxLabels is beyond what package probe keeps apart, so that the bound on
// roles is the only one.
const maxLabels = 5000

// New makes a probe. It counts while a window is open.
func New(o Options) *Probe {
	p := new(Probe)
	p.core.Name, p.core.Activity = o.Name, "file operation"
	p.core.Descs = descs
	if !seesKernel {
		p.core.Absent(kernelIO.Name, "whether the kernel copied can be seen on Linux only")
	}
	p.roles = probe.NewTable(o.MaxSeries, "(other)", p.newSeries)
	p.labels = probe.NewSeries(maxLabels, func(l *probe.Label) *series { return p.roles.Get(l.Role) })
	return p
}

// Watch implements [probe.Probe].
func (p *Probe) Watch() (*probe.Window, error) { return p.core.Watch() }

// Describe implements [probe.Probe].
func (p *Probe) Describe() []*probe.Desc { return p.core.Describe() }

// Overlapping appends to dst the file operations that overlapped the last d,
// without a lock; see [probe.Core.Overlapping]. Their name is the method that
// made them, and for those of a [File] the one that opened it. A ReadFile is one
// from its open to its last read; a copy by the kernel between two Files is
// two, a read and a write.
func (p *Probe) Overlapping(dst []probe.Overlap, d time.Duration) []probe.Overlap {
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
	if p == nil {
		return View{}
	}
	p.roles.Get(role)
	return View{probe: p, ctx: probe.WithRole(context.Background(), role)}
}

// here is the probe for the calling goroutine, whose role is not known yet.
func (p *Probe) here() View { return View{probe: p} }

// ReadFile is os.ReadFile.
func (p *Probe) ReadFile(name string) ([]byte, error) { return p.here().ReadFile(name) }

// Open is os.Open.
func (p *Probe) Open(name string) (*File, error) { return p.here().Open(name) }

// Create is os.Create.
func (p *Probe) Create(name string) (*File, error) { return p.here().Create(name) }

// OpenFile is os.OpenFile.
func (p *Probe) OpenFile(name string, flag int, perm os.FileMode) (*File, error) {
	return p.here().OpenFile(name, flag, perm)
}

// ReadDir is os.ReadDir.
func (p *Probe) ReadDir(name string) ([]fs.DirEntry, error) { return p.here().ReadDir(name) }

// Stat is os.Stat.
func (p *Probe) Stat(name string) (fs.FileInfo, error) { return p.here().Stat(name) }

// Lstat is os.Lstat.
func (p *Probe) Lstat(name string) (fs.FileInfo, error) { return p.here().Lstat(name) }
