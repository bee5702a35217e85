package main

import (
	"io/fs"
	"syscall"
)

// changed is when the file or what the kernel keeps of it (ctime) was changed
// last, in nanoseconds since 1970. No program can set it back, unlike its
// modification time.
func changed(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ctim.Nano()
	}
	return 0
}
