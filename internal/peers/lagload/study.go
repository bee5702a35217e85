package lagload

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/tidestaff/tidestaff/lag"
)

// A Study says how the readers are compared.
type Study struct {
	For    time.Duration // each load is measured so long
	Warm   time.Duration // and is on so long before
	Period time.Duration // of lag's schedule, of the rivals' and, on average, of the messages
}

// Default is the study that the documentation quotes: a thousand values of each
// reader, so that the 99th percentile rests on ten. It takes two minutes.
func Default() Study {
	return Study{For: 20 * time.Second, Warm: 2 * time.Second, Period: 20 * time.Millisecond}
}

// A Run is one load and what each reader read meanwhile.
type Run struct {
	Load   string
	Judged bool     // the limits hold for it
	Series []Series // the truth first
	// Waited is the share of the time in which the process wanted a processor
	// and others had it; NaN if it is not known.
	Waited float64
}

// Run measures each load after the other. It stops early when ctx is done.
func (s Study) Run(ctx context.Context) ([]Run, error) {
	var all []Run
	for _, l := range loads {
		r, err := s.measure(ctx, l)
		if err != nil {
			return nil, fmt.Errorf("load %q: %w", l.name, err)
		}
		all = append(all, r)
	}
	return all, nil
}

// measure puts the load on and lets all readers read.
func (s Study) measure(ctx context.Context, l load) (run Run, err error) {
	run = Run{Load: l.name, Judged: l.name != loads[0].name}
	if s.Period < 2*time.Millisecond || s.For < 10*s.Period {
		return run, fmt.Errorf("%v of periods of %v: want at least ten of at least 2ms", s.For, s.Period)
	}
	truth, err := newReceiver(s.Period)
	if err != nil {
		return run, err
	}
	stop, err := l.start()
	if err != nil {
		truth.sender.end()
		return run, errors.Join(err, truth.conn.Close())
	}
	defer stop()
	if err = sleep(ctx, s.Warm); err == nil {
		host := newNoise()
		run.Series, err = s.read(ctx, truth)
		run.Waited = host.end()
	} else {
		truth.sender.end()
		err = errors.Join(err, truth.conn.Close())
	}
	return run, err
}

// read is the measurement itself, while the load is on.
func (s Study) read(ctx context.Context, truth *receiver) (series []Series, err error) {
	w, err := lag.New(lag.Options{Interval: s.Period}).Watch()
	if err != nil {
		return nil, err
	}
	before := readSched()
	reading, endRivals := context.WithCancel(ctx)
	var wg sync.WaitGroup
	values := make([][][]int64, len(rivals))
	for i, r := range rivals {
		values[i] = make([][]int64, len(r.names))
		// Timers that fire at once push each other to the end of the run queue.
		shift := s.Period * time.Duration(i+1) / time.Duration(len(rivals)+1)
		wg.Go(func() {
			if sleep(reading, shift) == nil {
				r.run(reading, s.Period, values[i])
			}
		})
	}
	truth.begin()
	err = sleep(ctx, s.For)
	endRivals()
	own := w.Close() // waits until all slots are in
	waits, lost := truth.end()
	after := readSched()
	wg.Wait()
	if err = errors.Join(err, lost); err != nil {
		return nil, err
	}
	stats, ok := lag.StatsOf(own)
	if !ok {
		return nil, fmt.Errorf("no lag in the reading; absent are %v", own.Absent)
	}
	series = []Series{
		seriesOf("tcp", waits), part("lag total", stats.Total), part("lag queue", stats.Queue), part("lag timer", stats.Timer),
	}
	for i, r := range rivals {
		for j, name := range r.names {
			series = append(series, seriesOf(name, values[i][j]))
		}
	}
	return append(series, schedSeries(before, after)), nil
}

// sleep sleeps unless ctx is done.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func part(reader string, p lag.Part) Series {
	return Series{Reader: reader, N: p.Count, P50: int64(p.P50), P99: int64(p.P99), Max: int64(p.Max)}
}

func seriesOf(reader string, values []int64) Series {
	s := Series{Reader: reader, N: uint64(len(values))}
	if len(values) > 0 {
		slices.Sort(values)
		s.P50, s.P99, s.Max = quantile(values, 0.50), quantile(values, 0.99), values[len(values)-1]
	}
	return s
}

// quantile is by nearest rank: the smallest value that a share q of all do not
// exceed.
func quantile[T cmp.Ordered](sorted []T, q float64) T {
	i := int(math.Ceil(q*float64(len(sorted)))) - 1
	return sorted[min(max(i, 0), len(sorted)-1)]
}

// processors is a table's word for how many there are.
func processors() int { return runtime.GOMAXPROCS(0) }
