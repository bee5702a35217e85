//go:build !linux

package main

import "io/fs"

// identityOf is what all systems tell: a file in the place of another one of
// the same size and time is not noticed.
func identityOf(info fs.FileInfo) identity {
	return identity{size: info.Size(), mtime: info.ModTime().UnixNano()}
}
