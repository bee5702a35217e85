// Package fsstat counts what a program does with files, without changing how
// it does it.
//
// # What is measured
//
// A [Probe] has the reading functions of package os as methods, with the same
// signatures and results, so that adoption is a rename of os.ReadFile to
// files.ReadFile. Per role of the goroutine (see [probe.LabelOf]; resolved when
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
// # Accuracy and limits
//
// The counts are exact, and kept whether or not a window is open: a window
// holds what was counted since it was opened. An operation counts when it
// ends.
//
// A [File] keeps the fast paths of *os.File: io.Copy to a file or a connection,
// io.CopyN to a connection, http.ServeContent, os/exec with the embedded
// *os.File. io.CopyN into a bare *os.File is copied through the program, since
// that recognises nothing but its own type; into a File it is not.
//
// Whether the kernel copied cannot always be seen from outside package os. A
// copy from a file with a position to a file or a connection is taken for one,
// also where package os falls back to reading (out of /proc, into an *os.File
// opened for appending); the bytes are right, the operations are then one for
// many. Bytes that move a file's position under [File.SyscallConn] count as
// copied by the kernel. Bytes that splice brings from a connection into a file
// count as written, as one write.
//
// Reads around the probe are not seen: package os itself, memory maps, C code.
//
// # Concurrency
//
// All methods may be called from any goroutine, as those of *os.File may.
//
// # Cost
//
// Per read: two or three atomic additions, under 40 ns, and no allocation. An
// open allocates the File (32 bytes) and finds out the role: a few
// nanoseconds in a goroutine labelled by [probe.Do] or a view by [Probe.As],
// otherwise about a microsecond. ReadFile makes the same system calls and
// allocations as os.ReadFile. A copy by the kernel has one or two more lseek
// calls than with package os.
//
// # Platforms
//
// All. Which bytes the kernel copied is known on Linux only and absent
// elsewhere; there, what io.CopyN sends to a connection by sendfile is not
// counted at all.
package fsstat
