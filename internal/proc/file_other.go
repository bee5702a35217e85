//go:build !linux

package proc

import (
	"errors"
	"io"
	"os"
)

// handle is an ordinary file: outside Linux only fixtures are read.
type handle = *os.File

var modes = [...]int{readOnly: os.O_RDONLY, readWrite: os.O_RDWR, writeOnly: os.O_WRONLY}

func openHandle(path string, a access) (handle, error) {
	f, err := os.OpenFile(path, modes[a], 0)
	return f, bare(err)
}

func readHandle(h handle, p []byte) (int, error) {
	n, err := h.ReadAt(p, 0)
	if err == io.EOF {
		err = nil
	}
	return n, bare(err)
}

func writeHandle(h handle, p []byte) error {
	_, err := h.WriteAt(p, 0)
	return bare(err)
}

func closeHandle(h handle) error { return bare(h.Close()) }

// bare strips the path that package os adds, since pathError adds it too.
func bare(err error) error {
	if pe, ok := errors.AsType[*os.PathError](err); ok {
		return pe.Err
	}
	return err
}

func isNoDevice(error) bool { return false }

func isNoProcess(error) bool { return false }
