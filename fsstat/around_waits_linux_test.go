package fsstat

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// While an open of the probe's own waits, at a named pipe for one, one open of each
// path may be it. When it ends that is known, and nothing is lost.
func TestAroundWhileOneWaits(t *testing.T) {
	dir, p, w := watchedDir(t)
	a := filepath.Join(dir, "a")
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Skipf("no named pipes here: %v", err)
	}
	var opener sync.WaitGroup
	opener.Go(func() {
		if f, err := p.Open(fifo); err == nil {
			f.Close()
		}
	})
	for under := int64(0); under == 0; time.Sleep(time.Millisecond) {
		p.around.mu.Lock()
		under = p.around.under
		p.around.mu.Unlock()
	}
	for range 3 {
		must[[]byte](t)(os.ReadFile(a))
	}
	var r probe.Reading
	w.Read(&r)
	if g := aroundOf(t, &r); g.Opens != 2 || !strings.Contains(g.Reason, "not known of 1 more") {
		t.Errorf("while it waits: got %v, want 2 opens of 3 and that one may be missing", g)
	}
	must[*os.File](t)(os.OpenFile(fifo, os.O_WRONLY, 0)).Close()
	opener.Wait()
	must[[]byte](t)(p.ReadFile(a))
	if g := aroundOf(t, w.Close()); g.Opens != 3 || g.Reason != "" {
		t.Errorf("when it has ended: got %v, want 3 opens", g)
	}
}

// Opens of the probe's own elsewhere, many or one that waits, hide none for good
// without a word.
func TestAroundHidesNothing(t *testing.T) {
	for what, elsewhere := range map[string]func(t *testing.T, p *Probe) (end func()){
		"workers": func(t *testing.T, p *Probe) func() {
			path, stop := tempFile(t, 10), make(chan struct{})
			var workers sync.WaitGroup
			for range 4 {
				workers.Go(func() {
					for {
						select {
						case <-stop:
							return
						default:
							_, _ = p.ReadFile(path)
						}
					}
				})
			}
			return func() { close(stop); workers.Wait() }
		},
		"one that waits": func(t *testing.T, p *Probe) func() {
			fifo := filepath.Join(t.TempDir(), "fifo")
			if err := syscall.Mkfifo(fifo, 0o600); err != nil {
				t.Skipf("no named pipes here: %v", err)
			}
			var opener sync.WaitGroup
			opener.Go(func() {
				if f, err := p.Open(fifo); err == nil {
					f.Close()
				}
			})
			for under := int64(0); under == 0; time.Sleep(time.Millisecond) {
				p.around.mu.Lock()
				under = p.around.under
				p.around.mu.Unlock()
			}
			return func() {
				must[*os.File](t)(os.OpenFile(fifo, os.O_WRONLY, 0)).Close()
				opener.Wait()
			}
		},
	} {
		t.Run(what, func(t *testing.T) {
			dir, p, w := watchedDir(t)
			end := elsewhere(t, p)
			must[[]byte](t)(os.ReadFile(filepath.Join(dir, "a")))
			g := aroundOf(t, w.Close())
			if g.Opens != 1 && g.Reason == "" {
				t.Errorf("got %v, want the open, or that it is not known", g)
			}
			end()
		})
	}
}
