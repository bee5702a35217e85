package memory

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tidestaff/tidestaff/cgroup"
	"github.com/tidestaff/tidestaff/internal/proc"
	"github.com/tidestaff/tidestaff/probe"
)

// What a process says of its group from another place: a test starts itself
// again, with new namespaces, and gets an account back.
const (
	actVariable = "TIDESTAFF_PEERS_ACT"
	actForeign  = "foreign namespace"
	actHidden   = "hidden mount"
	actNested   = "nested below the mount"
	// rootVariable names the mount of the hierarchy, groupVariable the group.
	rootVariable  = "TIDESTAFF_PEERS_ROOT"
	groupVariable = "TIDESTAFF_PEERS_GROUP"
)

// An account is what everybody says at one place, with the charge of the group
// that is mounted, before and after, 0 where it has none.
type account struct {
	RootBefore, RootAfter uint64
	Said                  map[string]statement
}

// A statement is how much memory somebody says that the group of the process
// uses, or why it says nothing.
type statement struct {
	Usage, Anon uint64
	Err         string
}

// say plays an act and prints the account.
func say(act string) (code int) {
	root := os.Getenv(rootVariable)
	var err error
	switch act {
	case actHidden:
		err = cover(root)
	case actNested:
		err = showOnly(root, filepath.Dir(os.Getenv(groupVariable)))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	a := account{Said: map[string]statement{}}
	a.RootBefore = rootUsage(root)
	a.Said["tidestaff"] = ourStatement()
	for name, open := range map[string]func() (ask, func(), error){
		"containerd": containerd("memory", "cpuacct"), "opencontainers": opencontainers("memory"), "gopsutil": gopsutilMemory,
	} {
		a.Said[name] = statementOf(open)
	}
	a.RootAfter = rootUsage(root)
	if err := json.NewEncoder(os.Stdout).Encode(a); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// cover mounts an empty folder over a mount, in a mount namespace of this
// process's own.
func cover(mount string) error {
	if err := private(); err != nil {
		return err
	}
	if err := syscall.Mount("tmpfs", mount, "tmpfs", 0, ""); err != nil {
		return fmt.Errorf("cover %s: %w", mount, err)
	}
	return nil
}

// showOnly replaces a mount by one of its folders, as a container has it.
func showOnly(mount, folder string) error {
	if err := private(); err != nil {
		return err
	}
	aside, err := os.MkdirTemp("", "peers-")
	if err != nil {
		return err
	}
	defer os.Remove(aside)
	for _, step := range []func() error{
		func() error { return syscall.Mount(folder, aside, "", syscall.MS_BIND, "") },
		func() error { return syscall.Unmount(mount, syscall.MNT_DETACH) },
		func() error { return syscall.Mount(aside, mount, "", syscall.MS_BIND, "") },
		func() error { return syscall.Unmount(aside, syscall.MNT_DETACH) },
	} {
		if err := step(); err != nil {
			return fmt.Errorf("show %s at %s: %w", folder, mount, err)
		}
	}
	return nil
}

// private keeps changes to the mounts within this process's namespace.
func private() error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	return nil
}

func rootUsage(dir string) uint64 {
	b, err := os.ReadFile(filepath.Join(dir, "memory.usage_in_bytes"))
	if err != nil {
		return 0 // version 2's root has no such file
	}
	v, _ := proc.ParseUint(b)
	return v
}

func statementOf(open func() (ask, func(), error)) statement {
	ask, end, err := open()
	if err != nil {
		return statement{Err: err.Error()}
	}
	defer end()
	var to amounts
	if err := ask(&to); err != nil {
		return statement{Err: err.Error()}
	}
	return statement{Usage: to[usage], Anon: to[groupAnon]}
}

func ourStatement() statement {
	w, err := cgroup.New(cgroup.Options{}).Watch()
	if err != nil {
		return statement{Err: err.Error()}
	}
	return ofReading(w.Close())
}

// ofReading gives the reason of what is absent.
func ofReading(r *probe.Reading) statement {
	var s statement
	for m := range r.Find("tidestaff.cgroup.memory.usage") {
		s.Usage = uint64(m.Value)
	}
	for _, a := range r.Absent {
		if a.Name == "tidestaff.cgroup.memory.usage" {
			s.Err = a.Reason
		}
	}
	return s
}

// play starts this test again for an act and returns the account, with the
// folder of the group that it was in, and so the truth.
func play(t *testing.T, act string, clone uintptr) (account, proc.Group) {
	t.Helper()
	g := measurable(t)
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), actVariable+"="+act, rootVariable+"="+g.Mount, groupVariable+"="+g.Dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: clone}
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EINVAL) {
		t.Skipf("needs root and new namespaces: %v", err)
	} else if err != nil {
		t.Fatalf("%v: %s", err, &complaints)
	}
	var a account
	if err := json.Unmarshal(out, &a); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return a, g
}
