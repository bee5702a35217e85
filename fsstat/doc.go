// Package fsstat counts what a program does with files, without changing how
// it does it.
//
// # What is measured
//
// A [Probe] has the reading functions of package os as methods, with the same
// signatures and results, so that adoption is a rename of os.ReadFile to
// files.ReadFile. Per role of the goroutine (see [probe.LabelOf]; found out when
// a file is opened and kept with it) it counts:
//
//   - operations: opens, reads, writes, stats and directory reads, whether they
//     succeed or not. A read is one call of Read, ReadAt and so on, the one that
//     finds the end of the file included. ReadFile is an open and the reads
//     that it takes, at least two; ReadDir is an open and a directory read.
//   - bytes read and written, and how many of them the kernel copied without
//     the program seeing them (copy_file_range, sendfile). A copy by the kernel
//     is one read and, into a [File], one write.
//   - errors by class: not_exist, permission, exist, closed, deadline, other.
//     io.EOF is none.
//
// With [Probe.In] the reads and bytes are added to the operation in a context
// as well, so that reads per request are a distribution.
//
// Each call that may wait (open, read, write, stat, directory read, copy) is
// visible while it runs, and for a while if it took 5 ms or more: see
// [Probe.Overlapping]. So a probe of stalls can say which file held the service
// up, by the method and the role.
//
// # Accuracy and limits
//
// The counts are exact. An operation counts when it ends, if a window was open
// when it began; with no window open nothing is counted. A [File] that was
// opened before a window counts in it, in the role of whoever first uses it.
//
// A [File] keeps the fast paths of *os.File: io.Copy to a file or a connection,
// io.CopyN to a connection, http.ServeContent, os/exec with the embedded
// *os.File. io.CopyN into a bare *os.File is copied through the program, since
// that recognises nothing but its own type; into a File it is not.
//
// Whether the kernel copied is not said by package os. It is known beforehand:
// between regular files of one file system, and from a regular file to a TCP or
// Unix stream connection, the kernel copies what the source says that it holds.
// It is known not to happen out of /proc or a pipe, or into a file opened for
// appending: then each read and write counts as such. In the other cases (two
// file systems, somebody's type around an *os.File) the kernel may copy or not:
// the bytes are right, and counted as one read and one write of the program.
// Where a sandbox forbids the system calls, copies count as the kernel's though
// package os falls back to reading.
//
// Bytes that move a file's position under [File.SyscallConn] count as copied by
// the kernel. Bytes that splice brings from a connection into a file count as
// written, as one write.
//
// Reads around the probe are not seen: package os itself, memory maps, C code.
//
// # Concurrency
//
// All methods may be called from any goroutine, as those of *os.File may.
//
// # Cost
//
// While no window is open: one atomic load an operation, and no call chain.
//
// While one is, per read: two readings of the clock and a visible slot, to be
// there for Overlapping, and two or three atomic additions; together about
// 105 ns and no allocation, 1.15 to 1.2 times a bare ReadAt of 64 bytes from
// the page cache, which takes 690 ns. The additions alone are under 40 ns; the
// rest is paid for every read and write, since any of them may be the one that
// waits for a disk.
//
// An open allocates the File (64 bytes) and, as ReadFile, ReadDir and Stat do,
// finds out who does it: a few nanoseconds in a context with a role and a
// method or a view by [Probe.In], otherwise what [probe.LabelOf] says. ReadFile makes
// the same system calls and allocations as os.ReadFile. A copy between
// descriptors asks the kernel what they are first: five cheap system calls.
//
// # Platforms
//
// All. Which bytes the kernel copied is known on Linux only and absent
// elsewhere; there, what io.CopyN sends to a connection by sendfile is not
// counted at all.
package fsstat
