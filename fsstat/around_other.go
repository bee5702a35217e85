//go:build !linux

package fsstat

import (
	"fmt"
	"syscall"

	"github.com/tidestaff/tidestaff/probe"
)

// A dirWatch is not there: only Linux has inotify.
type dirWatch struct{ spent func(n int) }

// A dirEvent is never told.
type dirEvent struct {
	watch       int32
	name        string
	ended, lost bool
}

// A fileID is of nothing that is watched.
type fileID struct{}

var errNoWatch = fmt.Errorf("opens around the probe are told by inotify, on Linux only: %w", probe.ErrUnsupported)

func (*dirWatch) open() error                       { return errNoWatch }
func (*dirWatch) add(string) (int32, error)         { return 0, errNoWatch }
func (*dirWatch) remove(int32)                      {}
func (*dirWatch) follow(func())                     {}
func (*dirWatch) close() (wait func())              { return func() {} }
func (*dirWatch) drain(func(dirEvent))              {}
func realPath(string, syscall.Conn) (string, error) { return "", errNoWatch }
func idOf(string) (fileID, error)                   { return fileID{}, errNoWatch }
