// Package files puts package fsstat beside package os, and beside what people write
// by hand to count reads: an io.Reader around the file.
//
// # What is compared
//
// One benchmark per operation, on a file in the page cache: reads of 64 and 4096
// bytes, ReadFile, an open with its close, and copies of 64 MiB to a file and to a
// TCP connection.
//
//   - bare is package os.
//   - tidestaff-unwatched is a probe that nobody reads.
//   - tidestaff is a probe with a window open: everything counted, every call timed
//     and visible while it runs.
//   - tidestaff-counts is the same, but that reads are counted only
//     (fsstat.Options.TimeEvery).
//   - naive is a type around the *os.File with a Read that adds to a counter. It
//     is in the benchmarks of copies to show what it costs to lose the kernel's.
package files
