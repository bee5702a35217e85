package fsstat

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/tidestaff/tidestaff/probe"
)

// errnoNames are the kernel's names of what goes wrong with files.
var errnoNames = map[syscall.Errno]string{
	syscall.EACCES: "EACCES", syscall.EAGAIN: "EAGAIN", syscall.EBADF: "EBADF", syscall.EBUSY: "EBUSY",
	syscall.EDQUOT: "EDQUOT", syscall.EEXIST: "EEXIST", syscall.EFAULT: "EFAULT", syscall.EFBIG: "EFBIG",
	syscall.EINTR: "EINTR", syscall.EINVAL: "EINVAL", syscall.EIO: "EIO", syscall.EISDIR: "EISDIR",
	syscall.ELOOP: "ELOOP", syscall.EMFILE: "EMFILE", syscall.EMLINK: "EMLINK", syscall.ENAMETOOLONG: "ENAMETOOLONG",
	syscall.ENFILE: "ENFILE", syscall.ENODEV: "ENODEV", syscall.ENOENT: "ENOENT", syscall.ENOMEM: "ENOMEM",
	syscall.ENOSPC: "ENOSPC", syscall.ENOSYS: "ENOSYS", syscall.ENOTDIR: "ENOTDIR", syscall.ENOTEMPTY: "ENOTEMPTY",
	syscall.ENXIO: "ENXIO", syscall.EOPNOTSUPP: "EOPNOTSUPP", syscall.EPERM: "EPERM", syscall.EPIPE: "EPIPE",
	syscall.EROFS: "EROFS", syscall.ESPIPE: "ESPIPE", syscall.ESTALE: "ESTALE", syscall.ETXTBSY: "ETXTBSY",
	syscall.EXDEV: "EXDEV",
}

// classes are the errors that package os makes by itself, or that a system
// without those names means.
var classes = []struct {
	name string
	err  error
}{
	{"not_exist", fs.ErrNotExist}, {"permission", fs.ErrPermission}, {"exist", fs.ErrExist},
	{"closed", fs.ErrClosed}, {"deadline", os.ErrDeadlineExceeded}, {"invalid", fs.ErrInvalid},
}

// errorType is the name of an error, one of a small number.
func errorType(err error) string {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		if name := errnoNames[errno]; name != "" {
			return name
		}
	}
	for _, c := range classes {
		if errors.Is(err, c.err) {
			return c.name
		}
	}
	return "other"
}

// failures are a role's counters of errors, each made when it first occurs. Look-ups
// take no lock: a program may live on asking for files that do not exist.
type failures struct {
	byType atomic.Pointer[map[string]*probe.Counter] // never changed, but replaced
	mu     sync.Mutex
}

// fail counts an error.
func (s *series) fail(err error) {
	name := errorType(err)
	if all := s.errors.byType.Load(); all != nil {
		if c := (*all)[name]; c != nil {
			c.Add(1)
			return
		}
	}
	s.errors.mu.Lock()
	defer s.errors.mu.Unlock()
	all := map[string]*probe.Counter{}
	if old := s.errors.byType.Load(); old != nil {
		maps.Copy(all, *old)
	}
	c := s.probe.core.Counter(descErrors, s.role, probe.Attr{Key: AttrErrorType, Value: name})
	all[name] = c
	s.errors.byType.Store(&all)
	c.Add(1)
}
