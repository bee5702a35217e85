package growth

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// A bench is a check whose clocks are moved by the operations alone.
type bench struct {
	Check
	now      time.Duration // CPU time and time of day
	setUp    time.Duration // of an operation's data
	prepared []int         // the sizes of what was not let go of
	executed int
	samples  [][]int // the sizes of the operations of each sample
}

// newBench is a check of operations that take cost(n).
func newBench(cost func(n int) time.Duration) *bench {
	b := new(bench)
	b.Sizes, b.Limit = testSizes, time.Minute
	b.CPU = func() (time.Duration, error) { return b.now, nil }
	b.Now = func() time.Time { return time.Unix(0, int64(b.now)) }
	b.Prepare = func(n int) func() {
		b.prepared = append(b.prepared, n)
		b.now += b.setUp
		used := false
		return func() {
			if used {
				panic("an operation was executed twice on the same data")
			}
			used = true
			b.executed++
			b.now += cost(n)
		}
	}
	b.Done = func() {
		b.samples = append(b.samples, b.prepared)
		b.prepared = nil
	}
	return b
}

// items is a cost that grows with n, at a time per item.
func items(each time.Duration) func(n int) time.Duration {
	return func(n int) time.Duration { return time.Duration(n) * each }
}

// TestFreshData: each operation has data of its own, which is let go of before
// other data is made, and what one size leaves behind is collected before the next.
func TestFreshData(t *testing.T) {
	b := newBench(items(300))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := b.Run()
	runtime.ReadMemStats(&after)
	if r.Verdict != Within || r.Rounds != rounds {
		t.Errorf("got %v (%s) after %d rounds, want within the bound after %d", r.Verdict, r.Why, r.Rounds, rounds)
	}
	made := 0
	for _, sample := range b.samples {
		made += len(sample)
		if len(slices.Compact(slices.Clone(sample))) != 1 || len(sample)*sample[0] > 10_000 {
			t.Errorf("a sample has the sizes %v, want one, and no more items than the largest has", sample)
		}
	}
	if b.executed != made || len(b.prepared) > 0 {
		t.Errorf("%d operations of %d were executed, %d were not let go of", b.executed, made, len(b.prepared))
	}
	if want := uint32(rounds * len(testSizes)); after.NumForcedGC-before.NumForcedGC < want {
		t.Errorf("%d collections for %d samples", after.NumForcedGC-before.NumForcedGC, want)
	}
}

// TestInterleaved: every round has each size once, in varying order, and as many
// items of each.
func TestInterleaved(t *testing.T) {
	b := newBench(items(300))
	b.Run()
	orders := map[[5]int]bool{}
	samples := b.samples[1+len(testSizes):] // after the trials
	for i := 0; i+5 <= len(samples); i += 5 {
		var order [5]int
		for j, sample := range samples[i : i+5] {
			if order[j] = sample[0]; len(sample)*order[j] != 10_000 {
				t.Errorf("a sample at %d has %d operations, want 10,000 items", order[j], len(sample))
			}
		}
		orders[order] = true
		if round := slices.Sorted(slices.Values(order[:])); !slices.Equal(round, testSizes) {
			t.Fatalf("round %d has the sizes %v, want each once", i/5, order)
		}
	}
	if len(orders) < 2 {
		t.Errorf("got one order in all rounds: %v", orders)
	}
}

// TestBatches: how many operations a sample has.
func TestBatches(t *testing.T) {
	us := time.Microsecond
	for _, tt := range []struct {
		name  string
		rough []time.Duration
		want  []int
		err   string
	}{
		{"linear", []time.Duration{100 * us, 200 * us, 400 * us, 800 * us, 1600 * us}, []int{16, 8, 4, 2, 1}, ""},
		{"constant", []time.Duration{500 * us, 500 * us, 500 * us, 500 * us, 500 * us}, []int{1, 1, 1, 1, 1}, ""},
		{"quadratic", []time.Duration{us * 10, us * 40, us * 160, us * 640, us * 2560}, []int{16, 8, 4, 2, 1}, ""},
		{"short", []time.Duration{us, us, us, us, us}, []int{20, 20, 20, 20, 20}, ""},
		{"shorter at first", []time.Duration{us / 10, us / 5, us, us * 5, us * 10}, []int{200, 100, 20, 4, 2}, ""},
		{"too short", []time.Duration{us / 10, us / 10, us / 10, us / 10, us / 10}, nil, "an operation at n=2500 takes 100ns of CPU time: too short to be measured"},
		{"not measurable", []time.Duration{0, -us, 0, 0, 0}, nil, "too short"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := batch(testSizes, tt.rough)
			if !slices.Equal(got, tt.want) || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("got %v and error %v, want %v and %q", got, err, tt.want, tt.err)
			}
		})
	}
}

// TestOverhead: what reading the clock takes is no part of a sample.
func TestOverhead(t *testing.T) {
	b := newBench(items(3))
	b.CPU = func() (time.Duration, error) {
		b.now += 700
		return b.now, nil
	}
	r := b.Run()
	if r.Verdict != Within || math.Abs(r.Times[0]-3*625) > 1 {
		t.Errorf("got %v with times %v (%s), want the operation's own", r.Verdict, r.Times, r.Why)
	}
}

// TestDropped: sizes that take too long are left out, and if what is left says too
// little there is no verdict.
func TestDropped(t *testing.T) {
	for _, tt := range []struct {
		name         string
		sizes        []int
		cost         func(n int) time.Duration
		setUp, limit time.Duration
		want         Verdict
		measured     int
		why, dropped string
	}{
		{"none", testSizes, items(300), 0, time.Second, Within, 5, "", ""},
		{"the largest", []int{100, 200, 400, 800, 1600, 3200}, items(3000), 0, 250 * time.Millisecond, Within, 5, "",
			"n=3200 and more are left out: set-up and one operation took 10ms, and 42 of them do not fit into the limit of 250ms"},
		{"by its set-up", testSizes, items(300), time.Second, 10 * time.Second, Unjudged, 0, "n=625 and more are left out: set-up and one operation took 1s", "n=625"},
		{"too many", testSizes, items(3000), 0, 700 * time.Millisecond, Unjudged, 4, "no verdict on 4 sizes [625 1250 2500 5000]: a constant is told from an order by at least 4 that span 16 times", "n=10000 and more"},
		{"at once", testSizes, items(3000), 0, time.Millisecond, Unjudged, 0, "n=625 and more are left out", "n=625"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(tt.cost)
			b.Sizes, b.setUp, b.Limit = tt.sizes, tt.setUp, tt.limit
			r := b.Run()
			if r.Verdict != tt.want || len(r.Sizes) != tt.measured || !strings.Contains(r.Why, tt.why) || !strings.HasPrefix(r.Dropped, tt.dropped) {
				t.Errorf("got %+v, want verdict %v on %d sizes, %q, %q", r, tt.want, tt.measured, tt.why, tt.dropped)
			}
			if tt.want == Unjudged && r.Why == "" || tt.dropped == "" && r.Dropped != "" {
				t.Errorf("got no reason, or one too many: %+v", r)
			}
		})
	}
}

// TestTriedAgain: a size that took long once is not left out for that.
func TestTriedAgain(t *testing.T) {
	b := newBench(items(300))
	prepare, tried := b.Prepare, 0
	b.Prepare = func(n int) func() {
		if tried++; tried == 4 {
			b.now += 5 * time.Second // for the process did not run
		}
		return prepare(n)
	}
	if r := b.Run(); r.Verdict != Within || r.Dropped != "" || len(r.Sizes) != 5 {
		t.Errorf("got %+v, want all sizes", r)
	}
}

// TestRounds: there are more while the verdict is unclear, and as many as fit.
func TestRounds(t *testing.T) {
	noisy := func(share float64) func(n int) time.Duration {
		random := rand.New(rand.NewPCG(5, 5))
		return func(n int) time.Duration {
			x := float64(n) / 10_000
			return time.Duration(1e6 * ((1-share)*1 + share*x*x) * math.Exp(0.3*random.NormFloat64()))
		}
	}
	b := newBench(noisy(0.28)) // between the bounds: never clear
	if r := b.Run(); r.Verdict != Unclear || r.Rounds != mostRounds {
		t.Errorf("got %v after %d rounds, want unclear after %d", r.Verdict, r.Rounds, mostRounds)
	}
	b = newBench(noisy(0.28))
	b.Limit = 60 * time.Millisecond
	r := b.Run()
	if r.Verdict != Unclear || r.Rounds < fewRounds || r.Rounds > 20 || b.now > b.Limit {
		t.Errorf("got %v after %d rounds and %v, want those that fit into %v", r.Verdict, r.Rounds, b.now, b.Limit)
	}
	b = newBench(items(300))
	slow := false
	prepare := b.Prepare
	b.Prepare = func(n int) func() {
		if slow = slow || b.executed > 40; slow {
			b.now += 10 * time.Second // the machine is busy all of a sudden
		}
		return prepare(n)
	}
	if r := b.Run(); r.Verdict != Unjudged || !strings.Contains(r.Why, "rounds fitted into the limit, want at least 5") {
		t.Errorf("got %v after %d rounds (%s), want none on so few", r.Verdict, r.Rounds, r.Why)
	}
}

// TestClockFails: a clock that cannot be read is no verdict, at whatever reading.
func TestClockFails(t *testing.T) {
	for _, at := range []int{1, 2, 21, 30, 60} {
		b := newBench(items(300))
		b.CPU = func() (time.Duration, error) {
			if at--; at <= 0 {
				return 0, errors.ErrUnsupported
			}
			return b.now, nil
		}
		if r := b.Run(); r.Verdict != Unjudged || r.Why != errors.ErrUnsupported.Error() || len(b.prepared) > 0 {
			t.Errorf("got %v (%s), %d left", r.Verdict, r.Why, len(b.prepared))
		}
	}
}

func TestValidate(t *testing.T) {
	for _, tt := range []struct {
		check Check
		want  string
	}{
		{Check{Sizes: testSizes}, ""},
		{Check{Sizes: []int{1, 2, 4, 16}}, ""},
		{Check{Sizes: []int{2_500, 10_000}}, "no verdict on 2 sizes [2500 10000]"},
		{Check{Sizes: []int{1, 2, 3, 4}}, "no verdict on 4 sizes"},
		{Check{Sizes: []int{1, 4, 2, 16}}, "do not ascend"},
		{Check{Sizes: []int{1, 2, 2, 16}}, "do not ascend"},
		{Check{Sizes: []int{0, 2, 4, 16}}, "do not ascend"},
		{Check{}, "no verdict on 0 sizes"},
		{Check{Sizes: testSizes, Bound: 9}, "no such order: 9"},
		{Check{Sizes: testSizes, Limit: -1}, "a limit of -1ns"},
	} {
		if err := tt.check.Validate(); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: got %v, want %q", tt.check, err, tt.want)
		}
	}
}
