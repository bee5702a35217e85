package memory

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/containerd/cgroups/v3/cgroup2"
	"github.com/opencontainers/cgroups"
	"github.com/opencontainers/cgroups/fs2"
	"github.com/prometheus/procfs"
	"github.com/shirou/gopsutil/v4/common"
	"github.com/shirou/gopsutil/v4/docker"
	"github.com/shirou/gopsutil/v4/process"
	"github.com/tidestaff/tidestaff/cgroup"
	"github.com/tidestaff/tidestaff/probe"
)

// bare is this process on a version 2 machine that has little: no memory.current,
// no memory.peak (which came with Linux 5.19), no cpu.stat; no split of the
// resident set (4.5), but a mark and memory in swap.
func bare() map[string]string {
	const statm = "2000 500 100 50 0 400 0\n"
	status := fmt.Sprintf("Name:\tserver\nPid:\t%d\nVmHWM:\t9000 kB\nVmRSS:\t2000 kB\nVmSwap:\t300 kB\n", os.Getpid())
	pid := fmt.Sprintf("proc/%d/", os.Getpid()) // gopsutil wants one that there is
	return map[string]string{
		"proc/self/cgroup":                     "0::/pod\n",
		"proc/self/mountinfo":                  "28 24 0:25 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
		"proc/self/statm":                      statm,
		"proc/self/status":                     status,
		pid + "statm":                          statm,
		pid + "status":                         status,
		"sys/fs/cgroup/cgroup.controllers":     "cpu memory\n",
		"sys/fs/cgroup/pod/cgroup.controllers": "cpu memory\n",
		"sys/fs/cgroup/pod/cgroup.procs":       "42\n",
		"sys/fs/cgroup/pod/memory.stat":        "anon 1048576\nfile 4096\nshmem 0\n",
		"sys/fs/cgroup/pod/memory.max":         "max\n",
	}
}

func machine(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// TestAbsentIsZero: for what the kernel does not have, the others say 0, and no
// error; gopsutil says an error for cpu.stat. We say which file is missing.
func TestAbsentIsZero(t *testing.T) {
	root := machine(t, bare())
	group := filepath.Join(root, "sys/fs/cgroup/pod")
	ctx := host(root)
	t.Run("containerd", func(t *testing.T) {
		m, err := cgroup2.Load("/pod", cgroup2.WithMountpoint(filepath.Join(root, "sys/fs/cgroup")))
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.StatFiltered(cgroup2.StatMemory | cgroup2.StatCPU)
		if err != nil {
			t.Fatalf("got error %v; is it mended?", err)
		}
		zero(t, map[string]uint64{"usage": s.Memory.Usage, "peak": s.Memory.MaxUsage, "CPU": s.CPU.UsageUsec})
	})
	t.Run("opencontainers", func(t *testing.T) {
		cgroups.TestMode = true // else it takes files of cgroup file systems only
		defer func() { cgroups.TestMode = false }()
		m, err := fs2.NewManager(&cgroups.Cgroup{Resources: &cgroups.Resources{}}, group)
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Stats(&cgroups.StatsOptions{Controllers: cgroups.Memory | cgroups.CPU})
		if err != nil {
			t.Fatalf("got error %v; is it mended?", err)
		}
		zero(t, map[string]uint64{
			"usage": s.MemoryStats.Usage.Usage, "peak": s.MemoryStats.Usage.MaxUsage, "CPU": s.CpuStats.CpuUsage.TotalUsage,
		})
	})
	t.Run("gopsutil", func(t *testing.T) {
		m, err := docker.CgroupMemOwnWithContext(ctx)
		if err != nil {
			t.Fatalf("got error %v; is it mended?", err)
		}
		zero(t, map[string]uint64{"usage": m.MemUsageInBytes, "peak": m.MemMaxUsageInBytes})
		if c, err := docker.CgroupCPUOwnWithContext(ctx); err == nil {
			t.Errorf("got %v for a missing cpu.stat, want an error", c)
		}
	})
	t.Run("procfs", func(t *testing.T) {
		f, err := procfs.NewFS(filepath.Join(root, "proc"))
		if err != nil {
			t.Fatal(err)
		}
		p, err := f.Proc(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		s, err := p.NewStatus()
		if err != nil {
			t.Fatalf("got error %v; is it mended?", err)
		}
		zero(t, map[string]uint64{"anon": s.RssAnon, "file": s.RssFile, "shmem": s.RssShmem})
	})
	t.Run("tidestaff", func(t *testing.T) {
		r := reading(t, root)
		for _, name := range []string{
			"tidestaff.cgroup.memory.usage", "tidestaff.cgroup.memory.peak", "tidestaff.cgroup.cpu.time",
			"tidestaff.process.memory.stat",
		} {
			absent(t, r, name)
		}
	})
}

// TestGopsutilHasNoMark: MemoryInfo has fields for the mark and for swap, and
// leaves them 0, since it reads statm, which has neither.
func TestGopsutilHasNoMark(t *testing.T) {
	root := machine(t, bare())
	ctx := host(root)
	p, err := process.NewProcessWithContext(ctx, int32(os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	m, err := p.MemoryInfoWithContext(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if m.RSS == 0 {
		t.Errorf("got an RSS of 0, want the file's 500 pages")
	}
	zero(t, map[string]uint64{"HWM": m.HWM, "Swap": m.Swap})
	r := reading(t, root)
	for m := range r.Find("tidestaff.process.memory.swap") {
		if m.Value != 300<<10 {
			t.Errorf("tidestaff: got %v bytes in swap, want %d", m.Value, 300<<10)
		}
	}
}

// host is a context in which gopsutil looks for the files under root.
func host(root string) context.Context {
	return context.WithValue(context.Background(), common.EnvKey, common.EnvMap{
		common.HostProcEnvKey: filepath.Join(root, "proc"), common.HostSysEnvKey: filepath.Join(root, "sys"),
	})
}

// zero wants zeros, which is what is wrong.
func zero(t *testing.T, got map[string]uint64) {
	t.Helper()
	for what, v := range got {
		if v != 0 {
			t.Errorf("%s: got %d; it is mended", what, v)
		}
	}
}

func reading(t *testing.T, root string) *probe.Reading {
	t.Helper()
	w, err := cgroup.New(cgroup.Options{Root: root}).Watch()
	if err != nil {
		t.Fatal(err)
	}
	return w.Close()
}

// absent wants no value, and a reason.
func absent(t *testing.T, r *probe.Reading, name string) {
	t.Helper()
	for m := range r.Find(name) {
		t.Errorf("tidestaff: got %v for %s, want nothing", m.Value, name)
	}
	for _, a := range r.Absent {
		if a.Name == name && a.Reason != "" {
			return
		}
	}
	t.Errorf("tidestaff: no reason for %s in %v", name, r.Absent)
}
