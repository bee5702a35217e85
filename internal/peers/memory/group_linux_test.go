package memory

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSweep: what a process has left goes, what one that runs has stays, and so
// does everything else.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	const noProcess = 1 << 30 // above the largest that a kernel gives
	for name, kept := range map[string]bool{
		groupName(noProcess): false, groupName(os.Getpid()): true, "system.slice": true,
	} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		sweep(dir)
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != kept {
			t.Errorf("%s: got error %v, want it kept %t", name, err, kept)
		}
	}
}
