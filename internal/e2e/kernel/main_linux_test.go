package kernel

import (
	"os"
	"testing"
)

// TestMain: the test binary is several programs. It is the test, on the machine;
// it is the first process of a virtual machine, which prepares that and starts
// the checks; it is a check, in a process and a group of its own; and it is the
// child of a check.
func TestMain(m *testing.M) {
	if os.Getpid() == 1 && os.Getenv(envMachine) != "" {
		initMachine() // does not return
	}
	if text, ok := os.LookupEnv(envPlace); ok {
		enter(text) // does not return
	}
	if text, ok := os.LookupEnv(envHog); ok {
		hog(text) // does not return
	}
	os.Exit(m.Run())
}
