package fsstat

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"github.com/tidestaff/tidestaff/internal/proc"
	"github.com/tidestaff/tidestaff/probe"
)

var (
	descProcessIO = &probe.Desc{Name: "tidestaff.file.process_io", Unit: "By", Kind: probe.KindCounter,
		Help: "Bytes that the whole process moved by read and write and their kin, from and to files, pipes and sockets (rchar and wchar of /proc/self/io), less what the library's own probes read of /proc. Memory maps, recvfrom and io_uring are not in it."}
	descVirtualIO = &probe.Desc{Name: "tidestaff.file.virtual_io", Unit: "By", Kind: probe.KindCounter,
		Help: "Those of the bytes read that came from a file system or reader other than package os: they may be in memory."}
	descStreamIO = &probe.Desc{Name: "tidestaff.file.stream_io", Unit: "By", Kind: probe.KindCounter,
		Help: "Those of the bytes read that came from pipes, sockets, terminals and devices: no files."}
)

// A Coverage says what share of the bytes that the process has read from files
// went through the probe.
type Coverage struct {
	// Seen are the bytes that were read from files of package os through the
	// probe, and Process all that the process has read, less those of pipes, sockets
	// and devices that the probe has seen and what the library's own probes read.
	Seen, Process int64
	// Reason says why nothing is known, such as that /proc/self/io is denied;
	// empty if it is known.
	Reason string
}

// Share is the share of the process's bytes that was seen, from 0 to 1: at least
// that share of its reads of files, since what it reads from sockets and pipes
// past the probe is in Process as well. It is 0 if nothing is known or was read.
func (c Coverage) Share() float64 {
	if c.Process <= 0 {
		return 0
	}
	return min(float64(c.Seen)/float64(c.Process), 1)
}

// String says it in a few words.
func (c Coverage) String() string {
	switch {
	case c.Reason != "":
		return "coverage unavailable: " + c.Reason
	case c.Process <= 0:
		return "the process has read nothing"
	}
	return fmt.Sprintf("at least %.1f %% of what the process read from files (%d of %d bytes, sockets and pipes among them)",
		100*c.Share(), min(c.Seen, c.Process), c.Process)
}

// processIO follows the process's own counters while a window is open.
type processIO struct {
	path string // of /proc/self/io
	core *probe.Core

	mu     sync.Mutex
	file   *proc.File
	events int64 // bytes of the kernel's events that the probe has read
	totals [len(directionNames)]*probe.Counter
}

// start opens the file; where that fails the metric is absent with the reason.
func (c *processIO) start() {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, err := proc.Open(c.path)
	if err != nil {
		c.fail(err)
		return
	}
	c.file = f
}

func (c *processIO) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.file != nil {
		_ = c.file.Close()
		c.file = nil
	}
}

// sample reads the counters, and takes out of them what the library itself has
// read. They do not have the bytes of the read under way, but those of the reads
// before.
func (c *processIO) sample() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.file == nil {
		return
	}
	own := proc.BytesRead() + c.events
	b, err := c.file.Read()
	if err != nil {
		c.fail(err)
		return
	}
	counts, err := proc.ParseIO(b)
	if err != nil || !counts.ReadChars.OK || !counts.WriteChars.OK {
		c.fail(errors.Join(errors.New("no rchar and wchar in it"), err))
		return
	}
	c.core.Absent(descProcessIO.Name, "")
	c.set(in, int64(counts.ReadChars.V)-own)
	c.set(out, int64(counts.WriteChars.V))
}

// spent takes events that the probe has read out of the counts.
func (c *processIO) spent(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events += int64(n)
}

func (c *processIO) set(d direction, total int64) {
	if c.totals[d] == nil {
		c.totals[d] = c.core.Counter(descProcessIO, probe.Attr{Key: AttrDirection, Value: directionNames[d]})
	}
	c.totals[d].Set(total)
}

func (c *processIO) fail(err error) {
	reason := err.Error()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		reason = "no " + c.path + " here"
	case errors.Is(err, fs.ErrPermission):
		reason = c.path + " is denied"
	}
	c.core.Absent(descProcessIO.Name, reason)
}

// coverageOf is the coverage of a reading.
func coverageOf(r *probe.Reading, name string, read int64) Coverage {
	c := Coverage{Seen: read}
	known := false
	for i := range r.Metrics {
		m := &r.Metrics[i]
		if m.Attr(probe.AttrProbeName) != name {
			continue
		}
		switch {
		case m.Name == descVirtualIO.Name:
			c.Seen -= int64(m.Value)
		case m.Name == descStreamIO.Name:
			c.Seen -= int64(m.Value)
			c.Process -= int64(m.Value)
		case m.Name == descProcessIO.Name && m.Attr(AttrDirection) == directionNames[in]:
			c.Process, known = c.Process+int64(m.Value), true
		}
	}
	c.Process = max(c.Process, 0)
	if known {
		return c
	}
	c.Reason = "the process's counters were not read"
	for _, a := range r.Absent {
		if a.Name == descProcessIO.Name {
			c.Reason = a.Reason
		}
	}
	return c
}
