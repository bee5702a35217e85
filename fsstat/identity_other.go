//go:build !linux

package fsstat

import "io/fs"

// identityOf is the identity of a regular file, as far as package os says it:
// size and time of modification.
func identityOf(info fs.FileInfo) (identity, bool) { return identityByInfo(info) }
