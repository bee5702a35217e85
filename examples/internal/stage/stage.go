package stage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Stage is the set of an example's processes. The zero value is ready for use.
type Stage struct {
	mu    sync.Mutex
	procs []*Process

	phases sync.Mutex // held, by TryLock only, while a phase is opened or closed
	open   string     // the open phase; guarded by phases
	isOn   bool       // a phase is open; guarded by phases
}

// Report is what one process measured in one phase.
type Report struct {
	Name  string          // the process
	Phase string          // the phase
	JSON  json.RawMessage // what its Close callback returned
}

// Start runs the binary again in the role of spec, and returns when the child
// is ready. If it does not become ready, no process is left and the error is
// one line that names it and what it said last. When ctx ends while Start
// waits, the child is killed; later on, ctx means nothing to it.
func (s *Stage) Start(ctx context.Context, spec Spec) (*Process, error) {
	p, err := start(ctx, spec)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.procs = append(s.procs, p)
	s.mu.Unlock()
	return p, nil
}

// Open begins a phase in every process, in all at once so that their windows
// cover the same time. If one fails, those that opened are closed again.
func (s *Stage) Open(ctx context.Context, phase string) error {
	if !s.phases.TryLock() {
		return fmt.Errorf("stage: open phase %q: another phase is being opened or closed", phase)
	}
	defer s.phases.Unlock()
	if s.isOn {
		return fmt.Errorf("stage: open phase %q: phase %q is open", phase, s.open)
	}
	procs := s.running()
	errs := make([]error, len(procs))
	eachOf(procs, func(i int, p *Process) { errs[i] = p.Open(ctx, phase) })
	if err := errors.Join(errs...); err != nil {
		eachOf(procs, func(i int, p *Process) {
			if errs[i] == nil {
				_, _ = p.Close(ctx) // the phase failed; its parts interest nobody
			}
		})
		return err
	}
	s.open, s.isOn = phase, true
	return nil
}

// Close ends the phase in every process and returns their reports, in the
// order in which they were started. A process that failed has no report, its
// error is joined to the others', and the reports of the rest are returned.
func (s *Stage) Close(ctx context.Context) ([]Report, error) {
	if !s.phases.TryLock() {
		return nil, errors.New("stage: close phase: another phase is being opened or closed")
	}
	defer s.phases.Unlock()
	if !s.isOn {
		return nil, errors.New("stage: close phase: none is open")
	}
	s.isOn = false
	procs := s.running()
	reports, errs := make([]Report, len(procs)), make([]error, len(procs))
	eachOf(procs, func(i int, p *Process) {
		data, err := p.Close(ctx)
		reports[i], errs[i] = Report{Name: p.Name(), Phase: s.open, JSON: data}, err
	})
	got := reports[:0]
	for i, r := range reports {
		if errs[i] == nil {
			got = append(got, r)
		}
	}
	return got, errors.Join(errs...)
}

// Stop ends all processes, the last started first, and forgets them. It is
// bounded by the sum of their StopTimeouts, and may be called again.
func (s *Stage) Stop() error {
	s.mu.Lock()
	procs := s.procs
	s.procs = nil
	s.mu.Unlock()
	var errs []error
	for _, p := range slices.Backward(procs) {
		errs = append(errs, p.Stop())
	}
	return errors.Join(errs...)
}

func (s *Stage) running() []*Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.procs)
}

// eachOf calls f for all processes at once and waits.
func eachOf(procs []*Process, f func(int, *Process)) {
	var wg sync.WaitGroup
	for i, p := range procs {
		wg.Go(func() { f(i, p) })
	}
	wg.Wait()
}
