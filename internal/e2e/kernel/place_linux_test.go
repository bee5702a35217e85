package kernel

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// envPlace says where a process has to go before it becomes a check.
const envPlace = "TIDESTAFF_E2E_PLACE"

// A place is where a check runs.
type place struct {
	// Groups are the folders of the cgroups to join, one for each hierarchy.
	Groups []string
	// Unshare are the namespaces to leave, as CLONE_ flags.
	Unshare int
	// UID is the user to become, if it is not 0.
	UID int
}

// env is the variable that sends a process to the place.
func (p place) env() (string, error) {
	text, err := json.Marshal(p)
	return envPlace + "=" + string(text), err
}

// enter goes to the place and starts this program again there, so that all the
// memory of the check, that of its start included, is charged to the group.
func enter(text string) {
	var p place
	err := json.Unmarshal([]byte(text), &p)
	if err == nil {
		err = p.enter()
	}
	fmt.Fprintln(os.Stderr, "enter:", err)
	os.Exit(1)
}

func (p place) enter() error {
	// Namespaces belong to threads, and exec keeps those of the caller's.
	runtime.LockOSThread()
	for _, dir := range p.Groups {
		if err := join(dir); err != nil {
			return err
		}
	}
	// After the group: it becomes the root of a new cgroup namespace.
	if p.Unshare != 0 {
		if err := syscall.Unshare(p.Unshare); err != nil {
			return fmt.Errorf("unshare %#x: %w", p.Unshare, err)
		}
	}
	if p.Unshare&syscall.CLONE_NEWNS != 0 {
		// Else what is mounted here would be mounted on the machine as well.
		if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
			return fmt.Errorf("make the mounts private: %w", err)
		}
	}
	if p.UID != 0 {
		if err := errors.Join(syscall.Setgid(p.UID), syscall.Setuid(p.UID)); err != nil {
			return fmt.Errorf("become user %d: %w", p.UID, err)
		}
	}
	if err := os.Unsetenv(envPlace); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return fmt.Errorf("exec: %w", syscall.Exec(self, os.Args, os.Environ()))
}

// join moves this process into a group. "0" stands for the process that writes.
func join(dir string) error {
	return os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte("0"), 0)
}
