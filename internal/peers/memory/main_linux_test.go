package memory

import (
	"fmt"
	"os"
	"testing"
)

// noGroup is why this process has no groups of its own; nil if it has.
var noGroup error

// TestMain runs everything in groups of this process's own. A process that was
// started by a test to say something in another place says it and ends.
func TestMain(m *testing.M) {
	if act := os.Getenv(actVariable); act != "" {
		os.Exit(say(act))
	}
	leave, err := enter()
	noGroup = err
	code := m.Run()
	if err := leave(); err != nil {
		fmt.Fprintln(os.Stderr, "leave the group:", err)
		code = 1
	}
	os.Exit(code)
}

// needGroup skips where this process is in no group that it may measure.
func needGroup(t testing.TB) {
	t.Helper()
	for _, c := range []string{"memory", "cpuacct"} {
		if _, err := ownGroup(c); err != nil {
			t.Skipf("needs a cgroup of its own: %v (%v)", err, noGroup)
		}
	}
}
