package fsstat_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tidestaff/tidestaff/fsstat"
	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/probe/probetest"
)

func TestConform(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, make([]byte, 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]fsstat.Options{"plain": {}, "watching": {WatchDirs: []string{filepath.Dir(path)}}} {
		t.Run(name, func(t *testing.T) {
			probetest.Conform(t, func() probe.Probe { return fsstat.New(o) }, func(p probe.Probe) {
				files := p.(*fsstat.Probe)
				if _, err := files.ReadFile(path); err != nil {
					t.Error(err)
				}
				if _, err := files.Stat(path + ".gone"); err == nil {
					t.Error("a missing file has a stat")
				}
			})
		})
	}
}
