package cgroup

import (
	"errors"
	"path/filepath"

	"github.com/tidestaff/tidestaff/internal/proc"
	"github.com/tidestaff/tidestaff/probe"
)

// directions are the two series of each metric of IO.
var directions = []string{"read", "write"}

func (p *Probe) newDirections(d *probe.Desc) *tallies {
	return &tallies{p: p, desc: d, key: attrDirection, values: directions, unit: 1, each: make([]*tally, len(directions))}
}

// errNoDevice is why the metrics of IO are absent while the kernel lists no
// device. It begins to with the first IO, and for some devices and file systems
// never does, so that this is not a zero.
var errNoDevice = errors.New("the kernel has listed no device so far, because there was no IO or because it does not account it")

// groupIO is what the group's processes had devices do.
type groupIO struct {
	p          *Probe
	bytes, ops *tallies
}

// openIO counts the IO of a version 2 group of the io controller, or of a
// version 1 group of blkio.
func (p *Probe) openIO(g proc.Group) (*source, error) {
	io := &groupIO{p, p.newDirections(descGroupIO), p.newDirections(descGroupIOOps)}
	if g.Version == 1 {
		return p.openBlkio(g, io)
	}
	s, err := text(filepath.Join(g.Dir, "io.stat"), func(b []byte) error {
		d, err := proc.ParseIOStat(b)
		if err == nil {
			io.set(d)
		}
		return err
	})
	s.decides = ioDescs
	return s, err
}

// openBlkio reads two files for the two metrics. Those that include the groups
// below, as version 2 does, are Linux 4.3 and newer.
func (p *Probe) openBlkio(g proc.Group, io *groupIO) (*source, error) {
	s := &source{decides: ioDescs}
	var files [2]*proc.File
	for i, name := range []string{"blkio.throttle.io_service_bytes", "blkio.throttle.io_serviced"} {
		f, err := proc.Open(filepath.Join(g.Dir, name+"_recursive"))
		if err != nil {
			f, err = proc.Open(filepath.Join(g.Dir, name))
		}
		if err != nil {
			closeAll(files[:i]...)()
			return s, err
		}
		files[i] = f
	}
	s.close = closeAll(files[:]...)
	s.reopen = func() error { return reopenAll(files[:]) }
	s.sample = func() error {
		var v [2][2]proc.Value
		for i, f := range files {
			b, err := f.Read()
			if err != nil {
				return err
			}
			if v[i][0], v[i][1], err = proc.ParseBlkio(b); err != nil {
				return f.About(err)
			}
		}
		io.set(proc.DeviceIO{ReadBytes: v[0][0], WriteBytes: v[0][1], ReadOps: v[1][0], WriteOps: v[1][1]})
		return nil
	}
	return s, nil
}

// set takes the kernel's totals. While it lists no device they are zero for the
// counters, whose windows began before the first IO, and absent for a reader.
func (io *groupIO) set(d proc.DeviceIO) {
	io.each(io.bytes, d.ReadBytes, d.WriteBytes)
	io.each(io.ops, d.ReadOps, d.WriteOps)
}

func (io *groupIO) each(t *tallies, read, write proc.Value) {
	for i, v := range [...]proc.Value{read, write} {
		if t.each[i] == nil {
			t.each[i] = io.p.tally(t.desc, 1, probe.Attr{Key: t.key, Value: t.values[i]})
		}
		t.each[i].set(v.V)
	}
	io.p.offer(t.desc, read.OK || write.OK, errNoDevice.Error())
}

// openProcessIO counts what the process made devices do. The file may be denied,
// to a process that changed its user or for another user's process, or missing.
func (p *Probe) openProcessIO() (*source, error) {
	io := p.newDirections(descProcessIO)
	v := make([]proc.Value, 2)
	s, err := text(p.file("io"), func(b []byte) error {
		d, err := proc.ParseIO(b)
		if err != nil {
			return err
		}
		v[0], v[1] = d.ReadBytes, d.WriteBytes
		return io.set(v)
	})
	s.metrics = []*probe.Desc{descProcessIO}
	return s, err
}
