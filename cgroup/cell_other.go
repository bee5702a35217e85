//go:build !linux

package cgroup

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"

	"github.com/tidestaff/tidestaff/probe"
)

// A nest makes no cells on this system.
type nest struct{}

func (*nest) open(Options, *exec.Cmd) (*cell, error) {
	return nil, fmt.Errorf("control groups: %w: %s", probe.ErrUnsupported, runtime.GOOS)
}

func (*nest) leave([]string) {}

func rmdir(dir string) error { return os.Remove(dir) }
