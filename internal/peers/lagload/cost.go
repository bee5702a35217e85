package lagload

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/tidestaff/tidestaff/internal/peers/cputime"
	"github.com/tidestaff/tidestaff/lag"
	"github.com/tidestaff/tidestaff/probe"
)

// A Cost is what watching the scheduler's lag takes.
type Cost struct {
	Interval time.Duration
	Evidence bool // the readings that explain stalls are on
	// Idle and Busy are shares of one core. Idle is the whole process with a
	// window open, which has nothing else to do, less the same without one. Busy
	// is what one of many probes adds to the CPU time of a fixed amount of work
	// on all processors.
	Idle, Busy float64
	// Bare is Idle of a goroutine that does nothing but wait for a timer at the same
	// interval, measured by turns with it: what being woken up costs here.
	Bare float64
	// IdleTick and BusyTick are the same as CPU time for a slot.
	IdleTick, BusyTick time.Duration
	// Allocs is the number of objects allocated for a slot: those of histograms that
	// meet a value for the first time, which become fewer with time, since a slot itself
	// allocates nothing.
	Allocs float64
}

// costRounds of each are measured in turn, and the medians taken.
const costRounds = 3

// Costs measures at 50, 10 and 5 ms, with and without evidence. Each of 90 looks
// takes about so long.
func Costs(ctx context.Context, look time.Duration) ([]Cost, error) {
	if _, ok := cputime.Now(); !ok {
		return nil, fmt.Errorf("the CPU time of the process: %w", probe.ErrUnsupported)
	}
	var all []Cost
	for _, evidence := range []bool{false, true} {
		for _, interval := range []time.Duration{50 * time.Millisecond, 10 * time.Millisecond, 5 * time.Millisecond} {
			c, err := costOf(ctx, look, interval, evidence)
			if err != nil {
				return nil, err
			}
			all = append(all, c)
		}
	}
	return all, nil
}

func costOf(ctx context.Context, look, interval time.Duration, evidence bool) (Cost, error) {
	c := Cost{Interval: interval, Evidence: evidence}
	options := lag.Options{Interval: interval}
	if !evidence {
		options.Threshold = -1
	}
	if err := c.idle(ctx, look, options); err != nil {
		return c, err
	}
	return c, c.busy(ctx, look, options)
}

// idle watches a process that sleeps: with nothing else, with a bare timer and with
// the probe, by turns.
func (c *Cost) idle(ctx context.Context, look time.Duration, o lag.Options) error {
	var bare, shares, allocs []float64
	p := lag.New(o) // one, whose histograms have met most values after the first round
	for range costRounds {
		base, err := usage(func() error { return sleep(ctx, look) })
		if err != nil {
			return err
		}
		timer, err := usage(func() error { return bareTimer(ctx, o.Interval, look) })
		if err != nil {
			return err
		}
		w, err := p.Watch()
		if err != nil {
			return err
		}
		u, err := usage(func() error { return sleep(ctx, look) })
		w.Close()
		if err != nil {
			return err
		}
		slots := float64(u.wall) / float64(o.Interval)
		bare = append(bare, timer.share()-base.share())
		shares = append(shares, u.share()-base.share())
		allocs = append(allocs, (u.allocs-base.allocs)/slots)
	}
	c.Bare, c.Idle, c.Allocs = middle(bare), middle(shares), middle(allocs)
	c.IdleTick = time.Duration(c.Idle * float64(o.Interval))
	return nil
}

// bareTimer waits for a timer, over and over.
func bareTimer(ctx context.Context, interval, look time.Duration) error {
	end := time.Now().Add(look)
	timer := time.NewTimer(interval)
	defer timer.Stop()
	for next := time.Now().Add(interval); next.Before(end); next = next.Add(interval) {
		timer.Reset(time.Until(next))
		select {
		case <-timer.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// busyProbes is how many probes a busy look has: what one costs is far below what
// two runs of the same work differ by. Many more would measure their caches.
const busyProbes = 40

// busy gives all processors a fixed amount of work, without and with many probes,
// each of which has its own ticker and its own evidence.
func (c *Cost) busy(ctx context.Context, look time.Duration, o lag.Options) error {
	rounds := roundsIn(look)
	var shares []float64
	for range costRounds {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		base, err := usage(func() error { return fixedWork(rounds) })
		if err != nil {
			return err
		}
		end, err := watchMany(busyProbes, o)
		if err != nil {
			return err
		}
		u, err := usage(func() error { return fixedWork(rounds) })
		end()
		if err != nil {
			return err
		}
		shares = append(shares, float64(u.cpu-base.cpu)/float64(u.wall)/busyProbes)
	}
	c.Busy = middle(shares)
	c.BusyTick = time.Duration(c.Busy * float64(o.Interval))
	return nil
}

// fixedWork computes on every processor.
func fixedWork(rounds int) error {
	done := make(chan struct{})
	n := processors()
	for range n {
		go func() {
			for range 1000 {
				spin(rounds / 1000)
			}
			done <- struct{}{}
		}()
	}
	for range n {
		<-done
	}
	return nil
}

// watchMany opens a window of each of n probes.
func watchMany(n int, o lag.Options) (end func(), err error) {
	var windows []*probe.Window
	end = func() {
		var wg sync.WaitGroup
		for _, w := range windows { // each Close waits for a slot or two
			wg.Go(func() { w.Close() })
		}
		wg.Wait()
	}
	for range n {
		w, err := lag.New(o).Watch()
		if err != nil {
			end()
			return nil, err
		}
		windows = append(windows, w)
	}
	return end, nil
}

// used is what the process used meanwhile.
type used struct {
	wall, cpu time.Duration
	allocs    float64 // objects
}

func (u used) share() float64 { return float64(u.cpu) / float64(u.wall) }

// usage is what the process used while do ran. Objects are counted with the world
// stopped, outside of the CPU time: what a processor has allocated is otherwise in the
// runtime's sum only when its span is full, which is some hundred objects off.
func usage(do func() error) (used, error) {
	first := mallocs()
	cpu, _ := cputime.Now()
	from := time.Now()
	err := do()
	wall := time.Since(from)
	end, _ := cputime.Now()
	return used{wall, end - cpu, float64(mallocs() - first)}, err
}

// mallocs is how many objects the process has allocated.
func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

func middle[T cmp.Ordered](values []T) T { return quantile(slices.Sorted(slices.Values(values)), 0.5) }

// WriteCosts prints them.
func WriteCosts(w io.Writer, costs []Cost) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(out, "lag every\tevidence\tidle, % of a core\tµs a slot\tbare timer, %\tlag x bare\tbusy, % of a core\tµs a slot\tallocs a slot\t\n")
	for _, c := range costs {
		fmt.Fprintf(out, "%v\t%t\t%.2f\t%.1f\t%.2f\t%.1f\t%.2f\t%.1f\t%.2f\t\n", c.Interval, c.Evidence,
			100*c.Idle, float64(c.IdleTick)/1e3, 100*c.Bare, c.Idle/c.Bare, 100*c.Busy, float64(c.BusyTick)/1e3, c.Allocs)
	}
	return out.Flush()
}
