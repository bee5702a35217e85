//go:build !linux

package proc

import (
	"errors"
	"fmt"
	"time"
)

// ReadSuspended reads for how long the machine has been suspended since it
// started, which is known on Linux only.
func ReadSuspended() (time.Duration, error) {
	return 0, fmt.Errorf("suspended time: %w", errors.ErrUnsupported)
}
