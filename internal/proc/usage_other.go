//go:build !unix

package proc

import (
	"errors"
	"fmt"
)

// ReadUsage reads the usage so far, which this system does not tell.
func ReadUsage() (Usage, error) {
	return Usage{}, fmt.Errorf("getrusage: %w", errors.ErrUnsupported)
}
