package cgroup

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestUncertainty(t *testing.T) {
	page := float64(os.Getpagesize())
	for _, tt := range []struct {
		cpus           int
		process, group float64 // pages
	}{
		{1, 32, 64},
		{2, 64, 128},
		{16, 512, 1024},
		{17, 34 * 17, 64 * 17}, // from here on a batch is two pages for each CPU
		{64, 8192, 4096},
		{128, 32768, 8192},
	} {
		if got, want := processUncertainty(tt.cpus), tt.process*page; got != want {
			t.Errorf("process, %d CPUs: got %v, want %v", tt.cpus, got, want)
		}
		if got, want := groupUncertainty(tt.cpus), tt.group*page; got != want {
			t.Errorf("group, %d CPUs: got %v, want %v", tt.cpus, got, want)
		}
	}
}

func TestCPUs(t *testing.T) {
	root := fixture(t, "v2")
	if got := cpus(root); got != 4 {
		t.Errorf("got %d CPUs, want the fixture's 4", got)
	}
	if got := cpus(t.TempDir()); got < 1 {
		t.Errorf("got %d CPUs of a machine that does not say, want at least one", got)
	}
	for _, tt := range []struct {
		text string
		want int
	}{
		{"0", 1}, {"0\n", 1}, {"0-3", 4}, {"0-3,8\n", 5}, {"0,2,4-5", 4},
		{"", 0}, {"3-0", 0}, {"0-", 0}, {"none", 0},
	} {
		if got := countList([]byte(tt.text)); got != tt.want {
			t.Errorf("%q: got %d, want %d", tt.text, got, tt.want)
		}
	}
}

// TestNoMaxrss: ru_maxrss is a parent's peak as often as not (TestRealFatParent),
// so nothing here reads it.
func TestNoMaxrss(t *testing.T) {
	names, err := filepath.Glob("*.go")
	if err != nil || len(names) < 20 {
		t.Fatalf("got %d files, %v", len(names), err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(name, "_test.go") && bytes.Contains(b, []byte(".Maxrss")) {
			t.Errorf("%s reads Maxrss", name)
		}
	}
}
