package fsstat

import (
	"io/fs"
	"slices"
	"sync"
	"syscall"
)

// identityOf is the identity of a regular file; false for those of the kernel,
// which are made as they are read, and for those of which too little is known.
func identityOf(info fs.FileInfo) (identity, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return identityByInfo(info)
	}
	if slices.Contains(kernelDevices(), uint64(st.Dev)) {
		return identity{}, false
	}
	return identity{
		dev: uint64(st.Dev), ino: st.Ino, size: st.Size,
		mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano(),
	}, st.Size > 0
}

// kernelDevices are the devices of the file systems that the kernel makes up as
// they are read. A /dev that is no file system of its own is left out.
var kernelDevices = sync.OnceValue(func() (devices []uint64) {
	var root, st syscall.Stat_t
	if syscall.Stat("/", &root) != nil {
		return nil
	}
	for _, dir := range []string{"/proc", "/sys", "/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/kernel/debug", "/sys/kernel/tracing", "/dev"} {
		if syscall.Stat(dir, &st) == nil && st.Dev != root.Dev {
			devices = append(devices, uint64(st.Dev))
		}
	}
	return devices
})
