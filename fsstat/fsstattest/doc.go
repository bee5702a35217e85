// Package fsstattest tells, in a test, which files were opened around a probe of
// package fsstat.
//
// # What is measured
//
// Package os tells the test binary's own log of every file that it opens, in all
// packages, the standard library's and others' included; the go command asks for
// that log to know when a test's result may be taken from its cache. [Run] has the
// log come here first. [Around] compares it with what a probe has opened:
//
//	func TestMain(m *testing.M) { os.Exit(fsstattest.Run(m)) }
//
//	func TestDashboard(t *testing.T) {
//		gap, err := fsstattest.Around(files, func() { dashboard() })
//		if err != nil {
//			t.Skip(err)
//		}
//		if gap.Opens > 0 {
//			t.Error(gap) // 3 opens went around the probe: jobs.json (2), runs/7.log
//		}
//	}
//
// # Accuracy and limits
//
// Every open by package os is in the log, with the name that was given to it, and
// whether it succeeds or not; a program that is started is an open too. Opens
// before Run (of a package's init), by package syscall, by C code such as SQLite's
// and by child processes are not. Names with a line break are not. What else runs
// meanwhile is taken for part of it: the test must not be a parallel one. What a
// file system that is not package os's opens in a ReadFile or ReadDir of its own,
// by names that the probe does not know, is taken for around.
//
// The log is what the flag -test.testlogfile of a test binary asks for. The flag is
// not documented; where it is gone, Around says so. The go command's own log is
// complete nevertheless, so that results are cached as ever.
//
// # Concurrency
//
// Run is for TestMain. One Around at a time: a second one waits.
//
// # Cost
//
// A line of text per open, through a pipe. Around adds two looks at a file that
// does not exist, and keeps each name that is opened meanwhile. It needs no window
// and opens none.
//
// # Platforms
//
// Linux, where a process can open its own pipe by name. Elsewhere Run is m.Run and
// Around returns an error that wraps [probe.ErrUnsupported].
package fsstattest
