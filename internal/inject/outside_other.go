//go:build !linux

package inject

import (
	"fmt"
	"os/exec"
	"time"
)

func stopped(*exec.Cmd) (func(int, time.Duration) error, func(), error) {
	return nil, nil, fmt.Errorf("stalls from outside: %w", errNotHere)
}

func starved(c *exec.Cmd) (func(int, time.Duration) error, func(), error) { return stopped(c) }

func throttled(c *exec.Cmd) (func(int, time.Duration) error, func(), error) { return stopped(c) }

func throttledAbove(c *exec.Cmd) (func(int, time.Duration) error, func(), error) { return stopped(c) }

func yieldToAll() error { return nil }
