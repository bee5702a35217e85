package cgroup

import (
	"sync"
	"time"
)

// A sampler calls a function at a fixed interval from a goroutine of its own.
// When the process gets no CPU for a while, calls are late or left out; the
// peaks that rest on them know their longest gap.
type sampler struct {
	quit chan struct{}
	done sync.WaitGroup
}

func startSampler(every time.Duration, f func()) *sampler {
	s := &sampler{quit: make(chan struct{})}
	s.done.Go(func() {
		t := time.NewTicker(every)
		defer t.Stop()
		for {
			select {
			case <-s.quit:
				return
			case <-t.C:
				f()
			}
		}
	})
	return s
}

// stop ends the goroutine and waits for it.
func (s *sampler) stop() {
	close(s.quit)
	s.done.Wait()
}
