package page

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"github.com/tidestaff/tidestaff/examples/internal/stage"
	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/probe/report"
)

// dirVar tells the server the folder for its files, which parent and child both remove: one
// of them may be killed.
const dirVar = "TIDESTAFF_PAGE_DIR"

// A Server is the server's process: it serves HTTP, and what is measured in it
// is reported by phase.
type Server struct {
	// Begin makes what is served, in a folder for its files, and what is
	// measured. Required; so is an answer to GET /readyz.
	Begin func(dir string) (http.Handler, probe.Probe, error)
	// End ends what Begin began, which sets it, also if it then fails.
	End func() error
	// AtRest are the data before the load, which Begin may fill in. The kind of
	// the file system that they are on is added.
	AtRest report.Conditions

	dir     string
	profile bool // of CPU time, in each phase
	set     probe.Probe
	run     *report.Run // while a phase is open
	http    *http.Server
}

// Serve is the process from start to end.
func (s *Server) Serve(o Options) error {
	s.dir, s.profile = os.Getenv(dirVar), o.CPUProfile
	return stage.Child(stage.Handler{
		Start: func(context.Context) (string, error) { return s.start(o.Addr) },
		Open:  s.open, Close: s.close, Stop: s.stop,
	})
}

// start begins to serve. Whatever it began is undone if it fails.
func (s *Server) start(addr string) (string, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(s.dir))
	}
	handler, set, err := s.Begin(s.dir)
	if kind := s.AtRest.FileSystem(s.dir); err == nil && !errors.Is(kind, probe.ErrUnsupported) {
		err = kind
	}
	if err != nil {
		l.Close()
		return "", errors.Join(err, s.stop())
	}
	s.set, s.http = set, &http.Server{Handler: handler}
	go func() { _ = s.http.Serve(l) }() // returns when stop closes it
	return l.Addr().String(), nil
}

// open begins a phase.
func (s *Server) open(phase string) (err error) {
	// What Begin and the report of the phase before have left would count as the
	// server's own memory.
	debug.FreeOSMemory()
	s.run, err = report.Start(s.set, report.Options{Name: phase, CPUProfile: s.profile})
	return err
}

// close ends it and returns the report.
func (s *Server) close() ([]byte, error) {
	rep := s.run.Close()
	s.run = nil
	rep.Conditions = slices.Clone(s.AtRest)
	var out bytes.Buffer
	err := rep.Write(&out)
	return out.Bytes(), err
}

// stop ends everything and removes the folder.
func (s *Server) stop() error {
	if s.run != nil {
		s.run.Close() // the parent has gone; what is measured is still there
	}
	var err error
	if s.End != nil {
		err = s.End()
	}
	if s.http != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = s.http.Shutdown(ctx) // the process ends, whether or not all have ended
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}
