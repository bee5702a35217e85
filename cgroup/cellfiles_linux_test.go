package cgroup

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestCellFiles: a number that is not in its file is a reason, and what wait4
// has said stays.
func TestCellFiles(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct {
		file, data string
		read       func([]byte) (float64, error)
		want       float64
		reason     string
	}{
		{"memory.peak", "1048576\n", readBytes, 1 << 20, ""},
		{"memory.peak", "max\n", readBytes, 0, `not an unsigned number: "max"`},
		{"cpuacct.usage", "1500000000\n", readNanoseconds, 1.5, ""},
		{"cpu.stat", "usage_usec 2500000\nuser_usec 1\n", readUsage, 2.5, ""},
		{"cpu.stat", "user_usec 1\n", readUsage, 0, "no usage_usec"},
		{"cpu.stat", "usage_usec x\n", readUsage, 0, "not a number"},
		{"memory.events", "oom 4\noom_kill 2\n", readKills, 2, ""},
		{"memory.oom_control", "under_oom 0\n", readKills, 0, "no oom_kill"},
		{"memory.events", "oom_kill x\n", readKills, 0, "not a number"},
		{"none", "", readBytes, 0, "not provided by this kernel"},
	} {
		name := filepath.Join(dir, tt.file)
		if tt.file != "none" {
			rewrite(t, dir, tt.file, tt.data)
		}
		got := totalFile{name: name, read: tt.read}.value()
		if got.V != tt.want || got.OK != (tt.reason == "") || !strings.Contains(got.Reason, tt.reason) {
			t.Errorf("%s with %q: got %+v, want %v or %q", tt.file, tt.data, got, tt.want, tt.reason)
		}
		if got.OK && got.Prov.Method != tt.file {
			t.Errorf("%s: got method %q", tt.file, got.Prov.Method)
		}
	}
	c := &cell{dirs: []string{dir}, cpu: totalFile{name: filepath.Join(dir, "none"), read: readBytes}, kills: totalFile{why: "because"}}
	u := Usage{CPU: Value{V: 1, OK: true}}
	c.measure(&u)
	if u.CPU.V != 1 || u.OOMKills.Reason != "because" {
		t.Errorf("got %+v, want wait4's time and the reason", u)
	}
}
