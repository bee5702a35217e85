package proc

import (
	"bytes"
	"fmt"
	"path/filepath"
)

// LoadAvg is /proc/loadavg. A load average is the mean number of tasks that
// ran, were ready to run or waited for a disk, with an exponential memory.
type LoadAvg struct {
	One, Five, Fifteen float64 // minutes
	Runnable           uint64  // tasks running or ready at this instant
	Tasks              uint64  // tasks that exist, threads included
}

// ParseLoadAvg parses /proc/loadavg.
func ParseLoadAvg(b []byte) (LoadAvg, error) {
	var l LoadAvg
	rest := b
	ok := true
	for _, dst := range [...]*float64{&l.One, &l.Five, &l.Fifteen} {
		var f []byte
		f, rest = nextField(rest)
		v, is := decimal(f)
		*dst, ok = v, ok && is
	}
	tasks, _ := nextField(rest)
	i := bytes.IndexByte(tasks, '/')
	if !ok || i < 0 {
		return LoadAvg{}, fmt.Errorf("loadavg: %q", clip(b))
	}
	var ok1, ok2 bool
	l.Runnable, ok1 = digits(tasks[:i])
	l.Tasks, ok2 = digits(tasks[i+1:])
	if !ok1 || !ok2 {
		return LoadAvg{}, fmt.Errorf("loadavg: %q", clip(b))
	}
	return l, nil
}

// cpuNameKeys are the lines of /proc/cpuinfo that name the processor, best
// first: x86, LoongArch and MIPS, POWER, RISC-V, single-board computers.
var cpuNameKeys = []string{"model name", "Model Name", "cpu model", "cpu", "uarch", "Model", "Hardware"}

// ParseCPUModel finds the processor's name in /proc/cpuinfo. It is "" on
// architectures that do not print one, among them most arm64 machines.
func ParseCPUModel(b []byte) string {
	best, model := len(cpuNameKeys), ""
	for len(b) > 0 && best > 0 {
		var line []byte
		line, b = nextLine(b)
		key, value, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			continue
		}
		k := indexKey(cpuNameKeys, bytes.TrimSpace(key))
		value = bytes.TrimSpace(value)
		if k >= 0 && k < best && len(value) > 0 {
			best, model = k, string(value)
		}
	}
	return model
}

// CPUModel returns the processor's name from proc/cpuinfo under root, ""
// where the kernel does not tell.
func CPUModel(root string) (string, error) {
	b, err := ReadFile(filepath.Join(root, "proc/cpuinfo"))
	if err != nil {
		return "", err
	}
	return ParseCPUModel(b), nil
}

// KernelRelease returns the kernel's release, such as "6.12.9-amd64", from
// proc/sys/kernel/osrelease under root.
func KernelRelease(root string) (string, error) {
	b, err := ReadFile(filepath.Join(root, "proc/sys/kernel/osrelease"))
	if err != nil {
		return "", err
	}
	return string(bytes.TrimSpace(b)), nil
}
