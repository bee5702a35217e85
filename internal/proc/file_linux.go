package proc

import (
	"errors"
	"syscall"
)

// handle is a bare descriptor: a *os.File would register each file with the
// network poller for nothing and costs more per read.
type handle = int

var modes = [...]int{readOnly: syscall.O_RDONLY, readWrite: syscall.O_RDWR, writeOnly: syscall.O_WRONLY}

func openHandle(path string, a access) (handle, error) {
	for {
		fd, err := syscall.Open(path, modes[a]|syscall.O_CLOEXEC, 0)
		if err != syscall.EINTR {
			return fd, err
		}
	}
}

func readHandle(h handle, p []byte) (int, error) {
	for {
		n, err := syscall.Pread(h, p, 0)
		if err != syscall.EINTR {
			return n, err
		}
	}
}

func writeHandle(h handle, p []byte) error {
	for {
		_, err := syscall.Pwrite(h, p, 0)
		if err != syscall.EINTR {
			return err
		}
	}
}

func closeHandle(h handle) error { return syscall.Close(h) }

func isNoDevice(err error) bool { return errors.Is(err, syscall.ENODEV) }

func isNoProcess(err error) bool { return errors.Is(err, syscall.ESRCH) }
