package fsstat_test

import (
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/fsstat"
	"github.com/tidestaff/tidestaff/probe"
)

// A journal is what a service reads.
type journal struct{ files *fsstat.Probe }

func (j *journal) Load(path string) ([]byte, error) { return j.files.ReadFile(path) }

func (j *journal) Open(path string) (*fsstat.File, error) { return j.files.Open(path) }

// The method that made a call is its name, from its open on.
func TestOverlappingMethod(t *testing.T) {
	for want, begin := range map[string]func(j *journal, path string) error{
		"(*journal).Load": func(j *journal, path string) error { _, err := j.Load(path); return err },
		"(*journal).Open": func(j *journal, path string) error {
			f, err := j.Open(path)
			if err == nil {
				err = f.Close()
			}
			return err
		},
	} {
		path := filepath.Join(t.TempDir(), "pipe")
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Skipf("no named pipes here: %v", err)
		}
		j := &journal{fsstat.New(fsstat.Options{})}
		w, err := j.files.Watch()
		if err != nil {
			t.Fatal(err)
		}
		var reader sync.WaitGroup
		reader.Go(func() {
			if err := begin(j, path); err != nil {
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
		if len(all) != 1 || all[0].Name != want {
			t.Errorf("got %+v, want the open in %s", all, want)
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
