//go:build !linux

package spikes

import (
	"context"

	"github.com/tidestaff/tidestaff/probe"
)

// Run is for Linux: elsewhere no kernel file has a high-water mark.
func (s Study) Run(context.Context) (*Result, error) { return nil, probe.ErrUnsupported }
