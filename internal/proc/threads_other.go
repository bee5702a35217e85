//go:build !linux

package proc

import (
	"errors"
	"fmt"
)

// Threads is nothing here: only Linux tells how long a thread waited.
type Threads struct{}

// OpenThreads says that this system does not tell.
func OpenThreads(string) (*Threads, error) {
	return nil, fmt.Errorf("waits of threads: %w", errors.ErrUnsupported)
}

// Read says that this system does not tell.
func (*Threads) Read() (Waits, error) {
	return Waits{}, fmt.Errorf("waits of threads: %w", errors.ErrUnsupported)
}

// Close does nothing.
func (*Threads) Close() {}
