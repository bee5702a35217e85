package conditions

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestWrite: all conditions are there, each a comment of its own.
func TestWrite(t *testing.T) {
	var got strings.Builder
	if err := Write(&got, "go run ./it", "0.10 0.20 0.30"); err != nil {
		t.Fatal(err)
	}
	want := regexp.MustCompile(`^# made by: go run \./it
# date: \d{4}-\d\d-\d\d
# go: go\S+.*, GOMAXPROCS \d+
# kernel: \S+
# load average before: 0\.10 0\.20 0\.30
# load average after: .*
$`)
	if !want.MatchString(got.String()) {
		t.Errorf("got %q, want %s", got.String(), want)
	}
}

// TestSave: to the file that is named, in a folder that need not be there, or
// nowhere.
func TestSave(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "bench")
	name := filepath.Join(dir, "it.txt")
	if err := Save(t.Context(), name, "it", []byte("text")); err != nil {
		t.Fatal(err)
	}
	if err := Save(t.Context(), "-", "it", []byte("other")); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(name); string(got) != "text" || err != nil {
		t.Errorf("got %q and error %v, want the text", got, err)
	}
	if all, err := os.ReadDir(dir); len(all) != 1 || err != nil {
		t.Errorf("got %v and error %v, want the one file", all, err)
	}
}

// TestFile: today's file is in the repository's folder for such files.
func TestFile(t *testing.T) {
	got, err := File(t.Context(), "recorder")
	if err != nil {
		t.Fatal(err)
	}
	if ok, _ := filepath.Match("????-??-??-recorder.txt", filepath.Base(got)); !ok || filepath.Base(filepath.Dir(got)) != "bench" {
		t.Errorf("got %s, want bench/<date>-recorder.txt", got)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(got), "README.md")); err != nil {
		t.Errorf("%s is not beside the README of measurements: %v", got, err)
	}
}
