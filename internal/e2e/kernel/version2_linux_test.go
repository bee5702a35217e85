package kernel

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// version2 are the checks of version 2, in the order in which they run.
var version2 = slices.Concat(detectionChecks, peakChecks, memoryChecks, cpuChecks, ioChecks, commandChecks, otherChecks)

// A machine is one that is booted.
type machine struct {
	name    string
	image   Image
	options string // of the kernel
	checks  []check
}

// machines are those of the test: each kernel with all that it has, and one
// without what some distributions leave out.
var machines = []machine{
	{name: "6.1", image: Images[0], options: "psi=1", checks: version2},
	{name: "6.12", image: Images[1], options: "psi=1", checks: version2},
	{name: "6.12-bare", image: Images[1], options: "psi=0 cgroup_disable=memory", checks: bareChecks},
}

// TestVersion2 boots each kernel and runs the checks in it.
func TestVersion2(t *testing.T) {
	if runSelf(t, slices.Concat(version2, bareChecks)) {
		return
	}
	if _, err := exec.LookPath(qemu); err != nil {
		t.Skip("needs an emulator: apt-get install qemu-system-x86")
	}
	dir := t.TempDir()
	initramfs, disk := filepath.Join(dir, "initramfs.gz"), filepath.Join(dir, "disk")
	program := build(t, dir)
	if err := writeInitramfs(initramfs, machineFiles(program)); err != nil {
		t.Fatal(err)
	}
	for _, m := range machines {
		t.Run(m.name, func(t *testing.T) {
			kernel, err := m.image.Path()
			if errors.Is(err, fs.ErrNotExist) {
				t.Skipf("needs a kernel: go run ./internal/e2e/kernel/fetch (%v)", err)
			} else if err != nil {
				t.Fatal(err)
			}
			makeDisk(t, disk)
			options := m.options + " " + envMachine + "=" + m.name
			console, err := bootTwice(func() (string, error) {
				return boot(t.Context(), bootTimeout, qemu, qemuArgs(kernel, initramfs, disk, options)...)
			}, t.Logf)
			if err != nil {
				t.Fatalf("%v\n%s", err, console)
			}
			m.judge(t, console)
		})
	}
}

// build builds this package's tests without cgo, so that they need no library,
// and without the race detector, which needs cgo.
func build(t *testing.T, dir string) []byte {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("needs the go command in PATH")
	}
	name := filepath.Join(dir, "init")
	cmd := exec.Command("go", "test", "-c", "-ldflags=-s -w", "-o", name, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go test -c: %v\n%s", err, out)
	}
	program, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// diskSize is that of the virtual machine's disk, which has no file system.
const diskSize = 64 << 20

// makeDisk makes an empty disk, which takes no room until it is written to.
func makeDisk(t *testing.T, name string) {
	t.Helper()
	if err := os.WriteFile(name, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(name, diskSize); err != nil {
		t.Fatal(err)
	}
}

// judge makes a test of each check that the machine ran.
func (m machine) judge(t *testing.T, console string) {
	t.Helper()
	_, line, _ := strings.Cut(console, sayReady)
	line, _, _ = strings.Cut(line, "\n")
	t.Log("Linux", line)
	for _, c := range m.checks {
		t.Run(c.name, func(t *testing.T) {
			_, out, ok := strings.Cut(console, sayBegin+c.name+"\n")
			if !ok {
				t.Fatalf("it did not begin:\n%s", console)
			}
			out, end, _ := strings.Cut(out, "\n@@")
			t.Log("in the machine:\n" + out)
			if !strings.HasPrefix("@@"+end, sayPassed+c.name+"\n") {
				t.Error("it failed")
			}
		})
	}
}
