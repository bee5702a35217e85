package lagload

import (
	"context"
	"math"
	"runtime/metrics"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// A Series is what one reader read under one load.
type Series struct {
	Reader string
	N      uint64
	// P50, P99 and Max are in nanoseconds. A reader that takes the difference of
	// two times may find them negative.
	P50, P99, Max int64
}

// nodeResolution is the default of Node's monitorEventLoopDelay.
const nodeResolution = 10 * time.Millisecond

// A rival is what people write themselves. It reads until ctx is done.
type rival struct {
	names []string
	run   func(ctx context.Context, period time.Duration, values [][]int64)
}

// rivals read beside each other. Each gets a goroutine and a slice to append to
// for each of its names.
var rivals = []rival{
	{[]string{"now-tick", "tick-tick-P", "now-now-P"}, readTicker},
	{[]string{"sleep-P"}, readSleep},
	{[]string{"node interval"}, readInterval},
}

// readTicker is what can be read from a time.Ticker. All three from one, since
// they differ only in what is subtracted.
func readTicker(ctx context.Context, period time.Duration, values [][]int64) {
	t := time.NewTicker(period)
	defer t.Stop()
	var lastTick, lastNow time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case tick := <-t.C:
			now := time.Now()
			values[0] = append(values[0], int64(now.Sub(tick)))
			if !lastTick.IsZero() {
				values[1] = append(values[1], int64(tick.Sub(lastTick)-period))
				values[2] = append(values[2], int64(now.Sub(lastNow)-period))
			}
			lastTick, lastNow = tick, now
		}
	}
}

// readSleep sleeps for a period, again and again.
func readSleep(ctx context.Context, period time.Duration, values [][]int64) {
	for ctx.Err() == nil {
		from := probe.Now()
		time.Sleep(period)
		values[0] = append(values[0], probe.Now()-from-int64(period))
	}
}

// readInterval does as Node: a timer that is set again when it was called, and
// the distance of two calls, which includes the timer's own length.
func readInterval(ctx context.Context, _ time.Duration, values [][]int64) {
	t := time.NewTimer(nodeResolution)
	defer t.Stop()
	for last := probe.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			now := probe.Now()
			values[0] = append(values[0], now-last)
			last = now
			t.Reset(nodeResolution)
		}
	}
}

const schedLatencies = "/sched/latencies:seconds"

// readSched is the runtime's histogram so far.
func readSched() *metrics.Float64Histogram {
	s := []metrics.Sample{{Name: schedLatencies}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindFloat64Histogram {
		return nil
	}
	return s[0].Value.Float64Histogram()
}

// schedSeries is what the histogram has gained. Its values are the upper ends of
// buckets that are a quarter of their values wide.
func schedSeries(before, after *metrics.Float64Histogram) Series {
	s := Series{Reader: "sched/latencies"}
	if before == nil || after == nil {
		return s
	}
	gained := make([]uint64, len(after.Counts))
	for i, n := range after.Counts {
		gained[i] = n - before.Counts[i]
		s.N += gained[i]
	}
	at := func(q float64) int64 {
		left := uint64(math.Ceil(q * float64(s.N)))
		for i, n := range gained {
			if n >= left && n > 0 {
				high := after.Buckets[i+1]
				if math.IsInf(high, 1) {
					high = after.Buckets[i]
				}
				return int64(high * 1e9)
			}
			left -= n
		}
		return 0
	}
	if s.N > 0 {
		s.P50, s.P99, s.Max = at(0.50), at(0.99), at(1)
	}
	return s
}
