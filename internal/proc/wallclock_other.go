//go:build !unix

package proc

import (
	"errors"
	"fmt"
	"time"
)

// ReadWallClock reads the system's wall clock, for which this system has no
// call but that of package time.
func ReadWallClock() (time.Time, error) {
	return time.Time{}, fmt.Errorf("wall clock: %w", errors.ErrUnsupported)
}
