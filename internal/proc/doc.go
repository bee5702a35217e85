// Package proc reads the files in which Linux publishes what a process, its
// control groups and the machine are doing.
//
// It is the one place of this module that knows the layout of those files;
// the probes and the report's host facts share it.
//
// # What is measured
//
// Nothing by itself. The package has five layers:
//
//   - [File] keeps a descriptor open and rereads the file from its start.
//   - The Parse functions turn the bytes of one read into numbers. They are
//     portable, keep no reference to their argument and do not allocate
//     unless they fail.
//   - [Detect] finds, per controller, the directory of this process's cgroup
//     on version 1, version 2 and hybrid hosts.
//   - [Limit] and [ThrottlingFile] are the two things about a group that take
//     more than one file, one version or one rule to tell: the limit that binds
//     it, and what its CPU quota took away.
//   - [Threads] follows this process's threads for what they wait for a CPU, and
//     [ReadUsage], [ReadCPUClock], [ReadSuspended] and [ReadWallClock] are the
//     system calls that stand beside the files.
//
// # Accuracy and limits
//
// A number that the kernel did not print is not zero: every optional field is
// a [Value] that knows whether it is there. Text that does not have the
// documented shape is an error that quotes it, never a guess. Keys that a
// newer kernel added are skipped.
//
// Detect refuses rather than guesses. A process that cannot see its own
// cgroup directory gets a typed error ([ErrHidden], [ErrForeignNamespace],
// [ErrDetached], [ErrNoController], [ErrNoCgroup]) and not the numbers of
// the directory that happens to be mounted there, which are usually those of
// the whole machine.
//
// # Concurrency
//
// Parse functions, the Read functions, [Detect] and [Cgroups] are safe for
// concurrent use. A File is not, nor is what keeps one: the owner serialises the
// calls.
//
// # Cost
//
// Reading and parsing a kept statm takes about 1 µs, status about 7 µs,
// a cgroup's usage about 1 µs and its memory.stat about 9 µs, none of which
// allocates. Detect reads two files, stats a few and allocates some kilobytes:
// it is for start-up.
//
// # Platforms
//
// Every function takes the text or a root folder, so fixtures can stand in for
// a kernel and everything but the descriptors is the same on all platforms.
// On Linux a File is a bare descriptor, elsewhere an *os.File.
package proc
