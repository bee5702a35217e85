package fsstat_test

import (
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/fsstat"
	"github.com/tidestaff/tidestaff/internal/callertest"
	"github.com/tidestaff/tidestaff/probe"
)

// A journal is what a service reads.
type journal struct{ files *fsstat.Probe }

func (j *journal) Load(path string) ([]byte, error) { return j.files.ReadFile(path) }

func (j *journal) Fetch(path string) ([]byte, error) {
	return new(callertest.Gateway).Load(j.files, path)
}

func (j *journal) Open(path string) (*fsstat.File, error) { return j.files.Open(path) }

// The method that made a call is its name, from its open on.
func TestOverlappingMethod(t *testing.T) {
	const gateway = "github.com/tidestaff/tidestaff/internal/callertest"
	load := func(read func(string) ([]byte, error)) func(string) error {
		return func(path string) error { _, err := read(path); return err }
	}
	for _, tc := range []struct {
		want  string
		skip  []string
		begin func(j *journal) func(path string) error
	}{
		{"(*journal).Load", nil, func(j *journal) func(string) error { return load(j.Load) }},
		{"(*journal).Open", nil, func(j *journal) func(string) error {
			return func(path string) error {
				f, err := j.Open(path)
				if err == nil {
					err = f.Close()
				}
				return err
			}
		}},
		{"(*Gateway).Load", nil, func(j *journal) func(string) error { return load(j.Fetch) }},
		{"(*journal).Fetch", []string{gateway}, func(j *journal) func(string) error { return load(j.Fetch) }},
	} {
		path := filepath.Join(t.TempDir(), "pipe")
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Skipf("no named pipes here: %v", err)
		}
		j := &journal{fsstat.New(fsstat.Options{SkipPackages: tc.skip})}
		w, err := j.files.Watch()
		if err != nil {
			t.Fatal(err)
		}
		var reader sync.WaitGroup
		reader.Go(func() {
			if err := tc.begin(j)(path); err != nil {
				t.Error(err)
			}
		})
		var all []probe.Overlap
		for range 10_000 {
			if all = j.files.Overlapping(nil, 0); len(all) > 0 {
				break
			}
			time.Sleep(time.Millisecond)
		}
		if len(all) != 1 || all[0].Name != tc.want {
			t.Errorf("got %+v, want the open in %s", all, tc.want)
		}
		to, err := os.OpenFile(path, os.O_WRONLY, 0) // lets the open go on
		if err != nil {
			t.Fatal(err)
		}
		to.Close()
		reader.Wait()
		w.Close()
	}
}
