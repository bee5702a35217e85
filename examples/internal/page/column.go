package page

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/tidestaff/tidestaff/examples/internal/stage"
	"github.com/tidestaff/tidestaff/probe/report"
)

// A column is a variant, and its runs.
type column struct {
	name, variant string
	hogs          int
	runs          []*report.Report
}

// columns are those that the options ask for.
func (o Options) columns() (all []*column) {
	for _, v := range o.Variants {
		all = append(all, &column{name: v, variant: v})
	}
	if last := all[len(all)-1].variant; o.Hogs > 0 {
		all = append(all, &column{name: last + ", busy host", variant: last, hogs: o.Hogs})
	}
	return all
}

// interleaved is the order of all runs: A B B A. What drifts with time then is
// in all columns alike.
func (o Options) interleaved(columns []*column) (order []*column) {
	for i := range o.Runs {
		round := slices.Clone(columns)
		if i%2 == 1 {
			slices.Reverse(round)
		}
		order = append(order, round...)
	}
	return order
}

// report is the one run, or the repeats; nil if there is none.
func (c *column) report() *report.Report {
	switch len(c.runs) {
	case 0:
		return nil
	case 1:
		return c.runs[0]
	}
	return report.Repeat(c.name, c.runs...)
}

// roleHogs is the process that keeps processors busy, and hogsVar tells it how
// many.
const (
	roleHogs = "hogs"
	hogsVar  = "TIDESTAFF_PAGE_HOGS"
)

// startHogs starts as many threads that compute until the stage stops. They are
// in a process of their own: to the server, the host is busy, and so it is to the
// load generator.
func startHogs(ctx context.Context, s *stage.Stage, n int) error {
	if n == 0 {
		return nil
	}
	_, err := s.Start(ctx, stage.Spec{Role: roleHogs, Env: []string{hogsVar + "=" + strconv.Itoa(n)}})
	return err
}

// serveHogs is that process.
func serveHogs(count string) error {
	n, err := strconv.Atoi(count)
	if err != nil {
		return fmt.Errorf("%s: %w", hogsVar, err)
	}
	var stop atomic.Bool
	return stage.Child(stage.Handler{
		Start: func(context.Context) (string, error) {
			runtime.GOMAXPROCS(n + 1) // one to hear the stop
			for range n {
				go func() {
					for !stop.Load() {
					}
				}()
			}
			return "", nil
		},
		Stop: func() error { stop.Store(true); return nil },
	})
}
