// Package strace holds package fsstat against strace: what the kernel is asked to
// do with a program's files.
//
// A wrapped copy makes the system calls that package os makes, on each of its fast
// paths, and what the probe counts of a mixed workload are the numbers of the table
// that `strace -c` prints: opens, reads, writes and bytes, to the unit.
//
// A test runs its own binary under strace, as a program that does one piece of
// work, with package os or with the probe. Only calls on the files of that work are
// traced (strace -P), so that what the Go runtime does beside it is not in the way.
//
// # By hand
//
//	apt-get install --no-install-recommends strace
//	go test -v ./internal/e2e/strace
//
// Where strace is missing, or may not trace, the tests skip and say so.
package strace
