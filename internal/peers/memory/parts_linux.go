package memory

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/tidestaff/tidestaff/internal/proc"
)

// A place is where a kernel file is: a fixed path, or one of the group of this
// moment.
type place func() (string, error)

func fixed(name string) place { return func() (string, error) { return name, nil } }

// ofGroup finds a file of this process's group for a controller, by its name in
// each version.
func ofGroup(controller, v1, v2 string) place {
	return func() (string, error) {
		g, err := ownGroup(controller)
		if err != nil {
			return "", err
		}
		if g.Version == 2 {
			return filepath.Join(g.Dir, v2), nil
		}
		return filepath.Join(g.Dir, v1), nil
	}
}

// ownGroup is the group that this process is in, as the probe finds it.
func ownGroup(controller string) (proc.Group, error) {
	all, err := proc.Detect("/")
	if err != nil {
		return proc.Group{}, err
	}
	return all.LookupOwn(controller)
}

// The kernel's files.
var (
	statm      = fixed("/proc/self/statm")
	status     = fixed("/proc/self/status")
	ioFile     = fixed("/proc/self/io")
	usageFile  = ofGroup("memory", "memory.usage_in_bytes", "memory.current")
	peakFile   = ofGroup("memory", "memory.max_usage_in_bytes", "memory.peak")
	memoryStat = ofGroup("memory", "memory.stat", "memory.stat")
	cpuStat    = ofGroup("cpuacct", "cpuacct.stat", "cpu.stat")
)

// openFiles keeps files open; the function closes them.
func openFiles(places []place) ([]*proc.File, func(), error) {
	var files []*proc.File
	end := func() {
		for _, f := range files {
			_ = f.Close() // nothing was written
		}
	}
	for _, at := range places {
		name, err := at()
		if err != nil {
			end()
			return nil, nil, err
		}
		f, err := proc.Open(name)
		if err != nil {
			end()
			return nil, nil, err
		}
		files = append(files, f)
	}
	return files, end, nil
}

// kernel reads files and looks at nothing.
func kernel(places ...place) asker {
	return asker{by: "kernel", open: func() (ask, func(), error) {
		files, end, err := openFiles(places)
		return func(*amounts) error {
			for _, f := range files {
				if _, err := f.Read(); err != nil {
					return err
				}
			}
			return nil
		}, end, err
	}}
}

// A parser puts what a file says into the amounts.
type parser struct {
	at    place
	parse func(b []byte, to *amounts) error
}

// part is what the probe does for one answer.
func part(parsers []parser, gives ...field) asker {
	return asker{"tidestaff-part", gives, func() (ask, func(), error) {
		places := make([]place, len(parsers))
		for i, p := range parsers {
			places[i] = p.at
		}
		files, end, err := openFiles(places)
		return func(to *amounts) error {
			for i, f := range files {
				b, err := f.Read()
				if err == nil {
					err = parsers[i].parse(b, to)
				}
				if err != nil {
					return err
				}
			}
			return nil
		}, end, err
	}}
}

// The parts.
var (
	partStatm  = []parser{{statm, parseStatm}}
	partStatus = []parser{{status, parseStatus}}
	partIO     = []parser{{ioFile, parseIO}}
	partUsage  = []parser{{usageFile, number(usage)}, {peakFile, number(peak)}}
	partSample = []parser{{statm, parseStatm}, {usageFile, number(usage)}}
)

func partSplit() []parser { return []parser{{memoryStat, parseSplit()}} }
func partCPU() []parser   { return []parser{{cpuStat, parseCPU()}} }

func parseStatm(b []byte, to *amounts) error {
	s, err := proc.ParseStatm(b, os.Getpagesize())
	to[rss] = s.RSS
	return err
}

func parseStatus(b []byte, to *amounts) error {
	s, err := proc.ParseStatus(b)
	if err != nil {
		return err
	}
	return put(to, statusFields, s.RSS, s.Anon, s.File, s.Shmem, s.HWM, s.Swap)
}

func parseIO(b []byte, to *amounts) error {
	s, err := proc.ParseIO(b)
	if err != nil {
		return err
	}
	return put(to, ioFields, s.ReadChars, s.WriteChars, s.ReadCalls, s.WriteCalls, s.ReadBytes, s.WriteBytes)
}

func number(of field) func([]byte, *amounts) error {
	return func(b []byte, to *amounts) (err error) {
		to[of], err = proc.ParseUint(b)
		return err
	}
}

// parseSplit knows both versions' keys, of which a file has one's.
func parseSplit() func([]byte, *amounts) error {
	v := make([]proc.Value, 6)
	keys := []string{"total_rss", "total_cache", "total_shmem", "anon", "file", "shmem"}
	return func(b []byte, to *amounts) error {
		if err := proc.ParseFlat(b, keys, v); err != nil {
			return err
		}
		if v[0].OK { // version 1
			return put(to, splitFields, v[0], v[1], v[2])
		}
		return put(to, splitFields, v[3], v[4], v[5])
	}
}

// parseCPU knows the version by its keys: ticks of 10 ms, or microseconds.
func parseCPU() func([]byte, *amounts) error {
	v := make([]proc.Value, 4)
	keys := []string{"user", "system", "user_usec", "system_usec"}
	return func(b []byte, to *amounts) error {
		if err := proc.ParseFlat(b, keys, v); err != nil {
			return err
		}
		times, unit := v[:2], 10*time.Millisecond
		if v[2].OK {
			times, unit = v[2:], time.Microsecond
		}
		for i := range times {
			times[i].V *= uint64(unit)
		}
		return put(to, cpuFields, times...)
	}
}

var errNotThere = errors.New("a number is missing")

// put sets fields, each of which must be there.
func put(to *amounts, fields []field, v ...proc.Value) error {
	for i, f := range fields {
		if !v[i].OK {
			return fmt.Errorf("%w: %s", errNotThere, f)
		}
		to[f] = v[i].V
	}
	return nil
}
