package main

import (
	"io/fs"
	"syscall"
)

// identityOf is from the stat(2) that package os has made of the file.
func identityOf(info fs.FileInfo) identity {
	id := identity{size: info.Size(), mtime: info.ModTime().UnixNano()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		id.ctime, id.device, id.file = st.Ctim.Nano(), uint64(st.Dev), st.Ino
	}
	return id
}
