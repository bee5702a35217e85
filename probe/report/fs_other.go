//go:build !linux

package report

import "github.com/tidestaff/tidestaff/probe"

func fileSystem(string) (string, error) { return "", probe.ErrUnsupported }
