package kernel

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"syscall"
)

// envMachine is on the kernel's command line, from where it becomes a variable
// of the first process: the name of the machine, which says what checks it runs.
const envMachine = "TIDESTAFF_E2E_MACHINE"

// The words by which the machine and the test understand each other on the
// serial console. Each begins a line; the name of a check follows all but ready
// and done.
const (
	sayReady  = "@@ready "
	sayBegin  = "@@begin "
	sayPassed = "@@passed "
	sayFailed = "@@failed "
	sayDone   = "@@done"
)

// unified is where a virtual machine has its version 2 hierarchy.
const unified = "/sys/fs/cgroup"

// initMachine is a virtual machine's first process: it mounts what a system
// has, runs the checks and switches the machine off. It does not return, since
// the kernel panics when its first process ends.
func initMachine() {
	err := prepare()
	if err == nil {
		fmt.Println(sayReady + release())
		for _, m := range machines {
			if m.name == os.Getenv(envMachine) {
				m.runChecks()
			}
		}
		fmt.Println(sayDone)
	} else {
		fmt.Println("init:", err)
	}
	syscall.Sync()
	fmt.Println(syscall.Reboot(syscall.LINUX_REBOOT_CMD_POWER_OFF))
	select {}
}

func (m machine) runChecks() {
	for _, c := range m.checks {
		runInMachine(c)
	}
}

// runInMachine runs a check and prints it between two lines.
func runInMachine(c check) {
	fmt.Println(sayBegin + c.name)
	out, err := c.start("TestVersion2", []hierarchy{{dir: unified}})
	out = bytes.TrimSuffix(out, []byte("\n"))
	if err != nil {
		fmt.Printf("%s\n%v\n%s%s\n", out, err, sayFailed, c.name)
		return
	}
	fmt.Printf("%s\n%s%s\n", out, sayPassed, c.name)
}

// prepare mounts the file systems and lets groups have controllers.
func prepare() error {
	for _, m := range []struct{ fstype, point string }{
		{"proc", "/proc"},
		{"sysfs", "/sys"},
		{"devtmpfs", "/dev"},
		{"tmpfs", "/tmp"},
		{"cgroup2", unified},
	} {
		if err := syscall.Mount(m.fstype, m.point, m.fstype, 0, ""); err != nil {
			return fmt.Errorf("mount %s at %s: %w", m.fstype, m.point, err)
		}
	}
	// What Go's os package and the tests expect of an environment.
	return errors.Join(
		os.Setenv("HOME", "/tmp"), os.Setenv("TMPDIR", "/tmp"),
		os.Chmod("/tmp", 0o1777),
		delegate(unified))
}

// release is the kernel's, such as "6.12.95+deb12-cloud-amd64".
func release() string {
	b, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return err.Error()
	}
	return string(bytes.TrimSpace(b))
}
