// Package fsstat counts what a program does with files, without changing how
// it does it, and finds out which of it was for nothing.
//
//	var files = fsstat.New(fsstat.Options{}) // one for the program
//
//	b, err := files.ReadFile(name) // where it said os.ReadFile
//
// A [Probe] has those functions of package os that open, read, write, list and look
// at files as methods, with the same signatures and results, so that adoption is a
// rename:
//
//	gofmt -w -r 'os.ReadFile -> files.ReadFile' .
//	gofmt -w -r 'os.WriteFile -> files.WriteFile' .
//	gofmt -w -r 'os.Open -> files.Open' .
//	gofmt -w -r 'os.OpenFile -> files.OpenFile' .
//	gofmt -w -r 'os.Create -> files.Create' .
//	gofmt -w -r 'os.CreateTemp -> files.CreateTemp' .
//	gofmt -w -r 'os.Truncate -> files.Truncate' .
//	gofmt -w -r 'os.CopyFS -> files.CopyFS' .
//	gofmt -w -r 'os.NewFile -> files.NewFile' .
//	gofmt -w -r 'os.Pipe -> files.Pipe' .
//	gofmt -w -r 'os.ReadDir -> files.ReadDir' .
//	gofmt -w -r 'os.Stat -> files.Stat' .
//	gofmt -w -r 'os.Lstat -> files.Lstat' .
//	gofmt -w -r 'os.Readlink -> files.Readlink' .
//	gofmt -w -r 'os.DirFS -> files.DirFS' .
//	gofmt -w -r 'os.OpenRoot -> files.OpenRoot' .
//	gofmt -w -r 'os.OpenInRoot -> files.OpenInRoot' .
//	gofmt -w -r 'http.Dir(d) -> fshttp.Dir(files.As("static"), d)' .
//
// [Probe.FS] wraps any fs.FS, [Probe.Reader] and [Probe.ReaderAt] any reader,
// [Probe.File] and [Probe.Root] what is open already, and package fshttp is an
// http.FileSystem. What package os returns as *os.File is a *[File] then, which
// embeds it. A nil Probe does what package os does, and counts nothing.
//
// # What is measured
//
// Per role of the goroutine (see [probe.LabelOf]; found out when a file is opened
// and kept with it; [Probe.As] and [Probe.In] say it):
//
//   - tidestaff.file.operations: opens, reads, writes, stats and directory reads,
//     whether they succeed or not. A read is one call of Read, ReadAt and so on,
//     the one that finds the end of the file included. ReadFile is an open and the
//     reads that it takes, at least two; WriteFile an open and a write; ReadDir an
//     open and a directory read; Readlink a stat; Truncate a write of nothing. Close,
//     Seek, Sync and what changes names and modes are none.
//   - tidestaff.file.io: bytes read and written; .kernel_io those of them that the
//     kernel copied without the program seeing them (copy_file_range, sendfile), and
//     .kernel_copies how many reads and writes that were. A copy by the kernel is one
//     read and, into a [File], one write.
//   - tidestaff.file.errors by the kernel's name, such as ENOENT; what package os
//     says by itself is closed, deadline, invalid and so on. io.EOF is none.
//   - tidestaff.file.operation.duration of each call. A ReadFile, a WriteFile and a
//     copy are one each. Pipes, sockets and terminals are left out, and copies to
//     and from connections: what is waited for there is no file.
//   - tidestaff.file.read_sizes: the program's reads by how many bytes they brought.
//   - tidestaff.file.unread_opens: opened for reading and for nothing else, and
//     closed without a read or any other use, its Stat, Sync or descriptor among them.
//   - tidestaff.file.passes: files whose reading was begun, by what had become of them
//     since they were last read: first, unchanged, grown, changed, or unknown beyond
//     the number of files that are compared. And tidestaff.file.avoidable_io: the
//     bytes of unchanged files that had been read before, which a cache by identity
//     would have spared; and those that a file which has grown had before, which a
//     reader that goes on where it was would have, if the file was appended to.
//
// Per path, in series that are details and never leave the process by themselves:
// operations, bytes, small reads ([PathCounts].LacksBuffer says where a buffer is
// missing), passes over it unchanged, avoidable bytes, unread opens, and the file's
// size, against which bytes are scans.
//
// Of the process: tidestaff.file.process_io, what it moved by system calls at all,
// against which the bytes that were seen are a [Coverage]; and, in folders that
// [Options].WatchDirs names, tidestaff.file.around: the opens that went around the
// probe, by path (a [Gap]). In tests package fsstattest names these without being
// told where to look. [Tree] says what there is to read.
//
// With [Probe.In] the reads and bytes are added to the operation in a context as
// well, so that reads per request are a distribution. Each call that is
// counted, and a Close, is visible while it runs, and for a while if it took 5 ms or
// more: see [Probe.Overlapping]. So a probe of stalls can say which file held the service up,
// by the method and the role.
//
// [StatsOf] is the typed view of all this.
//
// # Accuracy and limits
//
// The counts are exact: those of a mixed workload are strace's, to the unit. An
// operation counts when it ends, if a window was open when it began; with no window
// open nothing is counted. A [File] that was opened before a window counts in it, in
// the role of its view, else of whoever first uses it while one is open.
//
// Unchanged means apparently unchanged: device, number, size and both times (of
// modification and of change) are what they were. A change that leaves the size and
// falls within one tick of the file system's clock, about 4 ms, is not seen. The
// identity is that of the fstat that a ReadFile makes anyway, before it reads; a
// File that is opened is asked before its first read, and before the one that
// begins another pass or comes after nobody has watched. Elsewhere than on Linux
// it is size and time of modification, as it is for file systems that are not
// package os's; those that give no time have none. A pass is known up to where the
// file has been read from its start under the same identity, so that only bytes
// count as avoidable that were certainly had. A File that is rewound after its end
// begins another pass; ReadAt and a rewind in the middle begin none. Empty files,
// files of /proc, /sys and /dev, and those that are written to through the same File
// are not compared. Grown is the same file, longer: appended to, or rewritten and
// longer, which nothing that the kernel says tells apart. Two files of one name in
// two file systems that are not package os's are taken for one, which changes.
//
// Paths are what the program says, cleaned: no link is followed and no working
// folder asked for. Beyond [Options].MaxPaths they share "(other)". A file is compared
// with what it was when its name was last read, whatever row [Options].Path gives it;
// beyond six times MaxPaths names its passes are unknown. Names at which an operation
// failed have rows of their own, a quarter as many, and take none from files.
//
// Coverage is a lower bound: what is read from sockets and pipes past the probe is
// in the process's bytes. What is read of them through a [File] is left out, and so is what the library's own probes
// read of /proc at their looks. Where /proc/self/io is missing or denied it is
// unavailable, which is not none. Memory maps and C code that uses them are in
// neither.
//
// WatchDirs accuses none of the probe's own opens, by whatever name: a folder is
// recognised by its number, and a file by the path that the kernel has for it, so
// that links, another working folder and a renamed parent make no difference. A
// file that is renamed while it is opened has another, and so has one that an OpenBy
// renames. It cannot tell who opened: other processes are in it, and what an fs.FS
// opens in a ReadFile of its own or for a file of a type of its own. It is a lower
// bound, since the kernel takes two equal events in a row for one, and since an open
// of the probe's own that is under way may be the one that the kernel tells of: of
// each path as many are left out, a reading waits up to 20 ms for them to end, and
// the [Gap] says of how many it is not known. It also says so if a folder is not
// there, or is removed, renamed or replaced, which is looked for at each reading.
//
// A [File] keeps the fast paths of *os.File: io.Copy to a file or a connection,
// io.CopyN to a connection, http.ServeContent, http.FileServer by package fshttp,
// os/exec with the embedded *os.File, whose reads are not seen: the open then counts
// as one in vain. io.CopyN into a bare *os.File, or a copy into
// one behind a bufio.Writer, is made by the program, since that recognises nothing
// but its own type; into a File it is not. Every file of an fs.FS has exactly the interfaces
// fs.ReadDirFile, io.Seeker, io.ReaderAt and io.WriterTo that the original has, and
// every reader those of [View.Reader].
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
// A ReadFile or ReadDir that an fs.FS has of its own counts as an open and one read,
// since what it does is not seen; [Probe.DirFS] and [Root.FS] are seen in full. What
// is done through the embedded *os.File, memory maps and C code is not seen. What a
// reader gives byte by byte counts as bytes and as no read: it has them in a buffer.
//
// # Concurrency
//
// All methods may be called from any goroutine, as those of *os.File may. A probe
// starts no goroutine, but for one that reads inotify's events while a window is
// open, if WatchDirs asks for it.
//
// # Cost
//
// While no window is open: one atomic load an operation, and no call chain; with
// [Options].WatchDirs a lock for each open.
//
// While one is, a read or write takes, in floors of two readings of the clock and a
// record, about 1 over package os if it is not timed and 2.4 if it is, without an
// allocation; a ReadAt of 64 bytes from the page cache takes 9 by itself, so that is
// 1.1 to 1.3 times. [Options].TimeEvery times and shows only every so many; all are
// counted. An open with its close takes 1.1 times that of package os; a ReadFile of
// 4 KB, and a copy of 64 MiB, no more than it, within what such times scatter. The
// repository's bench/ has all of them, made in one run.
//
// An open allocates the File and, as ReadFile, ReadDir and Stat do, finds out who
// does it: a few nanoseconds in a context with a role and a method or a view by
// [Probe.In], otherwise what [probe.LabelOf] says, past the packages of
// [Options].SkipPackages. The first read of a File costs an fstat, which
// [Options].NoIdentity spares, and one allocation. ReadFile, WriteFile, ReadDir and
// Stat make the system calls and allocations of package os and no others once a path
// is known; a copy between descriptors asks the kernel what they are first, at most
// seven cheap system calls.
// With [Options].WatchDirs each open takes a lock, and two system calls more while a
// window is open.
//
// A path takes 1 to 3 KB and each window over it 0.2 to 0.5 KB; a million distinct
// ones, with the default bound of 500, 2 MB in all. A role takes 17 series and a
// distribution for each kind of call that occurs.
//
// # Platforms
//
// Linux, macOS, the BSDs, Windows and WASI. Which bytes the kernel copied, coverage and WatchDirs are known on Linux
// only and absent elsewhere, with the reason; there, what io.CopyN sends to a
// connection by sendfile is not counted at all.
package fsstat
