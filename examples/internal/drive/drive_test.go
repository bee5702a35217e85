package drive_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidestaff/tidestaff/examples/internal/drive"
	"github.com/tidestaff/tidestaff/probe"
)

const ms = time.Millisecond

// played is what one run left.
type played struct {
	drive.Outcome
	err     error
	reading *probe.Reading
	results map[string]drive.Result
}

// play runs a load and reads its window.
func play(t *testing.T, ctx context.Context, opt drive.Options, users ...drive.User) played {
	t.Helper()
	d := drive.New(opt)
	for _, u := range users {
		d.Add(u)
	}
	w, err := d.Watch()
	if err != nil {
		t.Fatal(err)
	}
	out, err := d.Run(ctx)
	p := played{Outcome: out, err: err, reading: w.Close(), results: make(map[string]drive.Result)}
	for _, r := range drive.ResultsOf(p.reading) {
		p.results[r.Operation] = r
	}
	return p
}

// calls collects when an operation was called, as offsets from a start.
type calls struct {
	mu    sync.Mutex
	start time.Time
	at    []time.Duration
}

func newCalls() *calls { return &calls{start: time.Now()} }

// do notes the call and takes some time.
func (c *calls) do(took time.Duration) func(context.Context) error {
	return func(ctx context.Context) error {
		c.mu.Lock()
		c.at = append(c.at, time.Since(c.start))
		c.mu.Unlock()
		return sleep(ctx, took)
	}
}

// sleep is an operation that obeys its context.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func nothing(context.Context) error { return nil }

// schedule plays one activity for a while and returns when it was called.
func schedule(t *testing.T, seed uint64, a drive.Activity) (at []time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := newCalls()
		a.Name, a.Do = "op", c.do(0)
		play(t, t.Context(), drive.Options{Seed: seed, For: 10 * time.Second}, drive.User{Activities: []drive.Activity{a}})
		at = c.at
	})
	return at
}

func TestExactSchedules(t *testing.T) {
	tests := []struct {
		name     string
		activity drive.Activity
		want     []time.Duration
	}{
		{"period", drive.Activity{Every: 4 * time.Second, First: time.Second}, []time.Duration{1000 * ms, 5000 * ms, 9000 * ms}},
		{"equal range", drive.Activity{Min: 3 * time.Second, Max: 3 * time.Second, First: 1 * ms}, []time.Duration{1 * ms, 3001 * ms, 6001 * ms, 9001 * ms}},
		{"rate", drive.Activity{Rate: 0.3}, []time.Duration{0, 3333333333, 6666666666}},
		{"rate that ends at For", drive.Activity{Rate: 0.2}, []time.Duration{0, 5 * time.Second}},
		{"count", drive.Activity{Rate: 1000, Count: 3}, []time.Duration{0, 1 * ms, 2 * ms}},
		{"count beyond For", drive.Activity{Every: 6 * time.Second, First: 6 * time.Second, Count: 2}, []time.Duration{6 * time.Second, 12 * time.Second}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, schedule(t, 1, tt.activity)); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRandomSchedules(t *testing.T) {
	tests := []struct {
		name     string
		activity drive.Activity
		min, max time.Duration // bounds of a gap
		first    time.Duration // bound of the first call
	}{
		{"phase", drive.Activity{Every: time.Second}, time.Second, time.Second, time.Second},
		{"jitter", drive.Activity{Every: 100 * ms, Jitter: 0.2}, 60 * ms, 140 * ms, 120 * ms},
		{"range", drive.Activity{Min: 20 * ms, Max: 60 * ms}, 20 * ms, 60 * ms, 60 * ms},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, again, other := schedule(t, 7, tt.activity), schedule(t, 7, tt.activity), schedule(t, 8, tt.activity)
			if diff := cmp.Diff(got, again); diff != "" {
				t.Errorf("one seed, two schedules (-first +second):\n%s", diff)
			}
			if cmp.Equal(got, other) {
				t.Errorf("seeds 7 and 8 have the same schedule: %v", got)
			}
			if got[0] > tt.first {
				t.Errorf("first call at %v, want at most %v", got[0], tt.first)
			}
			low, high := time.Hour, time.Duration(0)
			for i := range got[1:] {
				gap := got[i+1] - got[i]
				low, high = min(low, gap), max(high, gap)
			}
			if low < tt.min || high > tt.max {
				t.Errorf("gaps of %v to %v, want %v to %v", low, high, tt.min, tt.max)
			}
			if spread := tt.max - tt.min; high-low < spread/2 {
				t.Errorf("gaps of %v to %v use less than half of %v to %v", low, high, tt.min, tt.max)
			}
		})
	}
}

// TestJitterKeepsTheGrid: a period's jitter does not add up.
func TestJitterKeepsTheGrid(t *testing.T) {
	for k, at := range schedule(t, 3, drive.Activity{Every: 100 * ms, Jitter: 0.5, First: 100 * ms}) {
		grid := time.Duration(k+1) * 100 * ms
		if d := (at - grid).Abs(); d > 50*ms {
			t.Errorf("call %d is %v from the grid, want at most 50ms", k, d)
		}
	}
}

func TestPoisson(t *testing.T) {
	at := schedule(t, 11, drive.Activity{Rate: 200, Poisson: true})
	var sum, squares float64
	for i := range at[1:] {
		gap := (at[i+1] - at[i]).Seconds()
		sum, squares = sum+gap, squares+gap*gap
	}
	n := float64(len(at) - 1)
	mean := sum / n
	deviation := math.Sqrt(squares/n - mean*mean)
	// 2,000 gaps: the mean's standard error is 2.2 %; the seed is fixed.
	if math.Abs(mean*200-1) > 0.05 {
		t.Errorf("mean gap = %.5f s, want 0.005", mean)
	}
	if ratio := deviation / mean; ratio < 0.9 || ratio > 1.1 {
		t.Errorf("deviation / mean = %.2f, want 1: an exponential distribution", ratio)
	}
}

// TestUsersDiffer: users of one seed are not in step, and what one user's runs
// do does not change another's schedule.
func TestUsersDiffer(t *testing.T) {
	run := func(took time.Duration) (a, b []time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			ca, cb := newCalls(), newCalls()
			user := func(do func(context.Context) error) drive.User {
				return drive.User{Activities: []drive.Activity{{Name: "op", Min: 10 * ms, Max: 90 * ms, Do: do}}}
			}
			play(t, t.Context(), drive.Options{For: 2 * time.Second}, user(ca.do(took)), user(cb.do(0)))
			a, b = ca.at, cb.at
		})
		return a, b
	}
	a, b := run(0)
	_, slow := run(70 * ms)
	if cmp.Equal(a, b) {
		t.Error("two users have the same schedule")
	}
	if diff := cmp.Diff(b, slow); diff != "" {
		t.Errorf("a slower neighbour changed a schedule (-alone +beside):\n%s", diff)
	}
}

func TestRand(t *testing.T) {
	draw := func(seed uint64) (got []uint64) {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			add := func(n uint64) {
				mu.Lock()
				defer mu.Unlock()
				got = append(got, n)
			}
			play(t, t.Context(), drive.Options{Seed: seed}, drive.User{
				Activities: []drive.Activity{{Name: "op", Rate: 10, Count: 3, Do: func(ctx context.Context) error {
					add(drive.Rand(ctx).Uint64())
					return nil
				}}},
				Scripts: []drive.Script{{Do: func(ctx context.Context, s *drive.Session) error {
					if err := s.Sleep(time.Second); err != nil {
						return err
					}
					add(s.Rand.Uint64())
					return nil
				}}},
			})
		})
		return got
	}
	a, again, b := draw(1), draw(1), draw(2)
	if diff := cmp.Diff(a, again); diff != "" {
		t.Errorf("one seed, two series (-first +second):\n%s", diff)
	}
	all := slices.Compact(slices.Sorted(slices.Values(append(a, b...))))
	if len(all) != 8 {
		t.Errorf("%d different numbers of 8: %v", len(all), append(a, b...))
	}
}

// stalled is a server that answers in 240 µs, but nothing between 2 s and 3 s
// after its start.
func stalled(start time.Time) func(context.Context) error {
	return func(ctx context.Context) error {
		const from, to = 2 * time.Second, 3 * time.Second
		if at := time.Since(start); at >= from && at < to {
			if err := sleep(ctx, to-at); err != nil {
				return err
			}
		}
		return sleep(ctx, 240*time.Microsecond)
	}
}

// TestStall is the reason for the intended time: 100 requests a second for 5 s,
// 6 at once, against a server that stalls for 1 s. Of the 500, the 100 due in
// the stall wait 1 s, 0.99 s, …, 0.01 s: the 25th longest is 0.76 s, which is
// the p95. The service time saw the stall 6 times of 500.
func TestStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := play(t, t.Context(), drive.Options{For: 5 * time.Second, MaxInFlight: 6}, drive.User{Activities: []drive.Activity{
			{Name: "get", Rate: 100, Do: stalled(time.Now())},
		}}).results["get"]

		waits := make([]float64, 500)
		for i := range waits {
			if due := float64(i) / 100; due >= 2 && due < 3 {
				waits[i] = 3 - due
			}
		}
		slices.Sort(waits)
		want := waits[500*95/100-1+1] // nearest rank from above: 24 are longer
		p95, ok := got.Response.P95()
		if !ok || math.Abs(p95.Seconds()/want-1) > 0.03 {
			t.Errorf("response p95 = %v (%v), want %.3f s within 3 %%", p95, ok, want)
		}
		if got.Response.Max < time.Second || got.Response.Max > 1010*ms {
			t.Errorf("response max = %v, want 1 s", got.Response.Max)
		}
		if service, _ := got.Service.P95(); service > ms {
			t.Errorf("service p95 = %v: want it not to see the stall", service)
		}
		if got.Response.N != 500 || got.Failed() != 0 {
			t.Errorf("n = %d, failed %d, want 500 and none", got.Response.N, got.Failed())
		}
		if got.Offered != 100 || math.Abs(got.Achieved-100) > 0.1 {
			t.Errorf("offered %v, achieved %v, want 100 a second", got.Offered, got.Achieved)
		}
		// The bound of 6 is the driver's own: that it could not call is its lateness.
		if p95, _ := got.Lateness.P95(); p95 < 600*ms {
			t.Errorf("lateness p95 = %v, want it to tell that 6 at once were too few", p95)
		}
	})
}

// TestUnboundedStall: with room for all, nothing is late, and the service time
// is the response time.
func TestUnboundedStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := play(t, t.Context(), drive.Options{For: 5 * time.Second}, drive.User{Activities: []drive.Activity{
			{Name: "get", Rate: 100, Do: stalled(time.Now())},
		}}).results["get"]
		if got.Lateness.Max != 0 {
			t.Errorf("lateness = %v, want 0", got.Lateness.Max)
		}
		if diff := cmp.Diff(got.Response, got.Service, cmp.AllowUnexported(drive.Latency{})); diff != "" {
			t.Errorf("(-response +service):\n%s", diff)
		}
	})
}

func TestPolicies(t *testing.T) {
	tests := []struct {
		name    string
		policy  drive.Policy
		flight  int
		calls   []time.Duration
		max     time.Duration // response
		skipped uint64
	}{
		// Due each second from 1 s to 5 s; a run takes 2.5 s.
		{"queue", drive.Queue, 0, []time.Duration{1000 * ms, 3500 * ms, 6000 * ms, 8500 * ms, 11000 * ms}, 8500 * ms, 0},
		{"queue two", drive.Queue, 2, []time.Duration{1000 * ms, 2000 * ms, 3500 * ms, 4500 * ms, 6000 * ms}, 3500 * ms, 0},
		{"skip", drive.Skip, 0, []time.Duration{1000 * ms, 4000 * ms}, 2500 * ms, 3},
		{"skip two", drive.Skip, 2, []time.Duration{1000 * ms, 2000 * ms, 4000 * ms, 5000 * ms}, 2500 * ms, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCalls()
				p := play(t, t.Context(), drive.Options{For: 5500 * ms}, drive.User{Activities: []drive.Activity{
					{Name: "op", Every: time.Second, First: time.Second, Policy: tt.policy, InFlight: tt.flight, Do: c.do(2500 * ms)},
				}})
				got := p.results["op"]
				if diff := cmp.Diff(tt.calls, c.at); diff != "" {
					t.Errorf("calls (-want +got):\n%s", diff)
				}
				if got.Due != 5 || got.Skipped != tt.skipped || got.Response.N != 5-tt.skipped {
					t.Errorf("due %d, skipped %d, n %d, want 5, %d, %d", got.Due, got.Skipped, got.Response.N, tt.skipped, 5-tt.skipped)
				}
				if got.Response.Max != tt.max || got.Service.Max != 2500*ms {
					t.Errorf("response max %v, service max %v, want %v and 2.5s", got.Response.Max, got.Service.Max, tt.max)
				}
				if got.Lateness.Max != 0 { // the activity's earlier run was in the way, not the driver
					t.Errorf("lateness = %v, want 0", got.Lateness.Max)
				}
				if p.End != drive.EndDone || p.Share() != 1 {
					t.Errorf("end %q, share %v", p.End, p.Share())
				}
			})
		})
	}
}

func TestSkipAtTheDriversBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := play(t, t.Context(), drive.Options{For: time.Second, MaxInFlight: 2}, drive.User{Activities: []drive.Activity{
			{Name: "op", Rate: 10, Policy: drive.Skip, Do: func(ctx context.Context) error { return sleep(ctx, 450*ms) }},
		}}).results["op"]
		if got.Due != 10 || got.Skipped != 6 || got.Response.N != 4 {
			t.Errorf("due %d, skipped %d, n %d, want 10, 6, 4", got.Due, got.Skipped, got.Response.N)
		}
	})
}

func TestScript(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCalls()
		p := play(t, t.Context(), drive.Options{}, drive.User{
			Scripts: []drive.Script{{Work: 3, Do: func(ctx context.Context, s *drive.Session) error {
				start := time.Now()
				s.Do("start", c.do(300*ms)) // at 0
				s.Sleep(time.Second)        // think: 1.3 s
				s.Do("turn", c.do(500*ms))  // to 1.8 s
				s.Do("turn", c.do(200*ms))  // at once, to 2.0 s
				s.Sleep(time.Second)        //
				s.Sleep(time.Second)        // adds up: 4 s
				s.Do("turn", c.do(1500*ms)) // to 5.5 s
				for k := range 3 {          // a period that had to be at 5, 6 and 7 s
					s.SleepUntil(start.Add(time.Duration(5+k) * time.Second))
					s.Do("poll", c.do(100*ms))
				}
				s.Record("wait", 42*ms, nil)
				return nil
			}}},
			Activities: []drive.Activity{{Name: "beside", Every: time.Second, First: 500 * ms, Do: nothing}},
		})
		want := []time.Duration{0, 1300 * ms, 1800 * ms, 4000 * ms, 5500 * ms, 6000 * ms, 7000 * ms}
		if diff := cmp.Diff(want, c.at); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
		if got := p.results["poll"].Response; got.Max != 600*ms || got.N != 3 {
			t.Errorf("poll: %v, want a maximum of 0.6 s: due at 5 s, done at 5.6 s", got)
		}
		if got := p.results["turn"].Response; got.Max != 1500*ms || got.N != 3 {
			t.Errorf("turn: %v, want a maximum of 1.5 s", got)
		}
		if got := p.results["wait"]; got.Response.Max != 42*ms || got.Service.N != 0 {
			t.Errorf("wait: %v, want the recorded 42 ms and no service time", got)
		}
		// The open-ended activity stops with the fixed work, at 7.1 s.
		if got := p.results["beside"]; got.Due != 7 || math.Abs(got.Offered-7/7.1) > 1e-9 {
			t.Errorf("beside: due %d at %v/s, want 7 in 7.1 s", got.Due, got.Offered)
		}
		if p.Done != 3 || p.Planned != 3 || p.Elapsed != 7100*ms || p.End != drive.EndDone || p.err != nil {
			t.Errorf("outcome = %+v, %v, want 3 of 3 in 7.1 s", p.Outcome, p.err)
		}
	})
}

func TestScriptError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := play(t, t.Context(), drive.Options{}, drive.User{Scripts: []drive.Script{
			{Do: func(context.Context, *drive.Session) error { return nil }},
			{Work: 4, Do: func(_ context.Context, s *drive.Session) error {
				s.Done()
				return errors.New("no such job")
			}},
		}})
		if p.err == nil || p.err.Error() != "drive: script 1 of user 0: no such job" {
			t.Errorf("error = %v", p.err)
		}
		if p.Done != 2 || p.Planned != 5 {
			t.Errorf("done %d of %d, want 2 of 5", p.Done, p.Planned)
		}
	})
}

// TestCap cuts a run with work in each state: done, under way, waiting for the
// earlier run, not due yet.
func TestCap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := play(t, t.Context(), drive.Options{Cap: 5 * time.Second}, drive.User{
			Activities: []drive.Activity{{Name: "op", Every: time.Second, First: time.Second, Count: 10,
				Do: func(ctx context.Context) error { return sleep(ctx, 2100*ms) }}},
			Scripts: []drive.Script{{Work: 10, Do: func(_ context.Context, s *drive.Session) error {
				for {
					if err := s.Sleep(time.Second); err != nil {
						return err
					}
					s.Done()
				}
			}}},
		})
		// Due at 1, 2, 3 and 4 s; at 5 s it is over. The first is done at 3.1 s,
		// the second would be at 5.2 s, the others wait.
		got := p.results["op"]
		if got.Due != 4 || got.Response.N != 4 || got.Service.N != 2 {
			t.Errorf("due %d, n %d, called %d, want 4, 4, 2", got.Due, got.Response.N, got.Service.N)
		}
		if diff := cmp.Diff([]drive.Failure{{Class: drive.ClassCanceled, N: 3}}, got.Failures); diff != "" {
			t.Errorf("failures (-want +got):\n%s", diff)
		}
		if got.Response.Max != 3*time.Second {
			t.Errorf("response max = %v, want 3s: due at 2 s, cut off at 5 s", got.Response.Max)
		}
		if p.End != drive.EndCap || p.Elapsed != 5*time.Second || p.err != nil {
			t.Errorf("outcome = %+v, %v, want the cap at 5 s", p.Outcome, p.err)
		}
		if p.Planned != 20 || p.Done != 5 || p.Share() != 0.25 { // one run, four units of the script
			t.Errorf("done %d of %d, want 5 of 20", p.Done, p.Planned)
		}
		if got.Offered != 0.8 || got.Achieved != 0.2 || !got.Saturated() {
			t.Errorf("offered %v, achieved %v, want 0.8 and 0.2 a second", got.Offered, got.Achieved)
		}
		if len(p.reading.Events) != 1 || p.reading.Events[0].Cause != "cap" {
			t.Errorf("events = %+v, want one with cause cap", p.reading.Events)
		}
	})
}

func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 2500*ms)
		defer cancel()
		p := play(t, ctx, drive.Options{Seed: 5}, drive.User{Activities: []drive.Activity{
			{Name: "op", Every: time.Second, First: time.Second, Count: 4, Do: func(ctx context.Context) error { return sleep(ctx, 600*ms) }},
		}})
		want := drive.Outcome{Seed: 5, End: drive.EndCanceled, Planned: 4, Done: 1, Elapsed: 2500 * ms, CPU: p.CPU}
		if diff := cmp.Diff(want, p.Outcome); diff != "" {
			t.Errorf("outcome (-want +got):\n%s", diff)
		}
		// Run's context ended by a deadline, but the operation did not time out.
		if diff := cmp.Diff([]drive.Failure{{Class: drive.ClassCanceled, N: 1}}, p.results["op"].Failures); diff != "" {
			t.Errorf("failures (-want +got):\n%s", diff)
		}
	})
}

func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		early := func(context.Context) error { return context.DeadlineExceeded } // gives up before its time
		p := play(t, t.Context(), drive.Options{Timeout: 2 * time.Second}, drive.User{Activities: []drive.Activity{
			{Name: "own", Rate: 1, Count: 1, Timeout: time.Second, Do: func(ctx context.Context) error { return sleep(ctx, time.Hour) }},
			{Name: "default", Rate: 1, Count: 1, Do: func(ctx context.Context) error { return sleep(ctx, time.Hour) }},
			{Name: "client's", Rate: 1, Count: 1, Do: early},
		}})
		for name, want := range map[string]time.Duration{"own": time.Second, "default": 2 * time.Second, "client's": 0} {
			got := p.results[name]
			if diff := cmp.Diff([]drive.Failure{{Class: drive.ClassTimeout, N: 1}}, got.Failures); diff != "" {
				t.Errorf("%s: failures (-want +got):\n%s", name, diff)
			}
			if got.Response.N != 1 || got.Response.Max != want {
				t.Errorf("%s: %v, want one of %v", name, got.Response, want)
			}
		}
	})
}

func TestIgnoredContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		p := play(t, t.Context(), drive.Options{Cap: time.Second}, drive.User{Activities: []drive.Activity{
			{Name: "deaf", Rate: 2, Do: func(context.Context) error { <-release; return nil }},
		}})
		if p.err == nil || !strings.Contains(p.err.Error(), "still under way 5s after the end of the run: deaf (2)") {
			t.Errorf("error = %v, want the two named", p.err)
		}
		close(release)
	})
}

func TestBadLoads(t *testing.T) {
	one := func(a drive.Activity) drive.User { return drive.User{Activities: []drive.Activity{a}} }
	tests := []struct {
		name string
		opt  drive.Options
		user drive.User
		want string
	}{
		{"endless", drive.Options{}, one(drive.Activity{Name: "a", Do: nothing, Rate: 1}), "would not end"},
		{"no name", drive.Options{For: 1}, one(drive.Activity{Do: nothing, Rate: 1}), "user 0: an activity has no Name"},
		{"no do", drive.Options{For: 1}, one(drive.Activity{Name: "a", Rate: 1}), `activity "a": Do is nil`},
		{"no kind", drive.Options{For: 1}, one(drive.Activity{Name: "a", Do: nothing}), "exactly one of"},
		{"two kinds", drive.Options{For: 1}, one(drive.Activity{Name: "a", Do: nothing, Rate: 1, Every: 1}), "exactly one of"},
		{"NaN", drive.Options{For: 1}, one(drive.Activity{Name: "a", Do: nothing, Rate: math.NaN()}), "a negative number"},
		{"range", drive.Options{For: 1}, one(drive.Activity{Name: "a", Do: nothing, Min: 2, Max: 1}), "Max below Min"},
		{"jitter", drive.Options{For: 1}, one(drive.Activity{Name: "a", Do: nothing, Every: 1, Jitter: 0.6}), "Jitter is 0.6"},
		{"poisson", drive.Options{For: 1}, one(drive.Activity{Name: "a", Do: nothing, Every: 1, Poisson: true}), "Poisson needs"},
		{"option", drive.Options{For: -1}, drive.User{}, "an option is negative"},
		{"script", drive.Options{}, drive.User{Scripts: []drive.Script{{}}}, "a script's Do is nil"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := drive.New(tt.opt)
			d.Add(tt.user)
			if _, err := d.Run(t.Context()); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want %q in it", err, tt.want)
			}
		})
	}
}

func TestRunsOnce(t *testing.T) {
	d := drive.New(drive.Options{For: 1})
	if _, err := d.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Run(t.Context()); err == nil {
		t.Error("a second Run succeeded")
	}
}

// TestSampleSizes: what is told of 1, 19, 20, 99 and 100 samples.
func TestSampleSizes(t *testing.T) {
	for _, n := range []int{1, 19, 20, 99, 100} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				p := play(t, t.Context(), drive.Options{}, drive.User{Activities: []drive.Activity{
					{Name: "op", Rate: 1, Count: n, Do: func(ctx context.Context) error {
						return sleep(ctx, time.Since(start)/1000) // 0 ms, 1 ms, 2 ms, …
					}}}})
				for _, got := range []drive.Latency{p.results["op"].Response, p.results[drive.All].Response} {
					p95, has95 := got.P95()
					p99, has99 := got.P99()
					if has95 != (n >= 20) || has99 != (n >= 100) {
						t.Errorf("p95 %v, p99 %v", has95, has99)
					}
					if has95 && math.Abs(p95.Seconds()/(0.95*float64(n)/1000)-1) > 0.06 {
						t.Errorf("p95 = %v of 0 to %d ms", p95, n-1)
					}
					if want := time.Duration(n-1) * ms; got.N != uint64(n) || got.Max != want || p99 > want {
						t.Errorf("got %v, want n=%d and the maximum %v", got, n, want)
					}
					for part, want := range map[string]bool{"p95": has95, "p99": has99, fmt.Sprintf("(n=%d)", n): true} {
						if strings.Contains(got.String(), part) != want {
							t.Errorf("%q in %q, want %v", part, got, want)
						}
					}
				}
			})
		})
	}
}

// TestResultsOfAll: all operations together.
func TestResultsOfAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fail := func(err error) func(context.Context) error { return func(context.Context) error { return err } }
		p := play(t, t.Context(), drive.Options{Seed: 1<<63 + 1, For: 10 * time.Second}, drive.User{Activities: []drive.Activity{
			{Name: "b", Rate: 2, Do: fail(drive.Wrong(errors.New("not it")))},
			{Name: "a", Rate: 3, Do: nothing},
			{Name: "c", Rate: 1, Do: fail(errors.New("broken"))},
		}})
		var names []string
		for _, r := range drive.ResultsOf(p.reading) {
			names = append(names, r.Operation)
		}
		if diff := cmp.Diff([]string{drive.All, "a", "b", "c"}, names); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
		all := p.results[drive.All]
		if all.Due != 60 || all.Response.N != 60 || all.Offered != 6 || all.Failed() != 30 {
			t.Errorf("all = %+v, want 60 due, 6 a second, 30 failed", all)
		}
		want := []drive.Failure{{Class: drive.ClassOther, N: 10}, {Class: drive.ClassWrong, N: 20}}
		if diff := cmp.Diff(want, all.Failures); diff != "" {
			t.Errorf("failures (-want +got):\n%s", diff)
		}
		for m := range p.reading.Find("drive.seed") {
			if got := m.Attr("drive.seed"); got != "9223372036854775809" {
				t.Errorf("seed = %q", got)
			}
		}
	})
	if got := drive.ResultsOf(new(probe.Reading)); got != nil {
		t.Errorf("results of nothing = %v", got)
	}
}

// TestTiledByNext: a report tiles its curve while the run goes on.
func TestTiledByNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := drive.New(drive.Options{For: 10 * time.Second})
		d.Add(drive.User{Activities: []drive.Activity{{Name: "op", Rate: 10, Do: nothing}}})
		w, err := d.Watch()
		if err != nil {
			t.Fatal(err)
		}
		go d.Run(t.Context())
		var n uint64
		var r probe.Reading
		for range 12 {
			time.Sleep(990 * ms)
			w.Next(&r)
			n += drive.ResultsOf(&r)[0].Response.N
		}
		w.Close()
		if n != 100 {
			t.Errorf("%d operations in all intervals, want 100", n)
		}
		if got := d.Progress(); got.End != drive.EndDone {
			t.Errorf("progress = %+v", got)
		}
	})
}

// TestCPU burns until the driver's CPU time has grown by 10 ms.
func TestCPU(t *testing.T) {
	d := drive.New(drive.Options{})
	d.Add(drive.User{Scripts: []drive.Script{{Do: func(ctx context.Context, _ *drive.Session) error {
		for d.Progress().CPU < 10*ms && ctx.Err() == nil {
		}
		return nil
	}}}})
	w, err := d.Watch()
	if err != nil {
		t.Fatal(err)
	}
	out, err := d.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for m := range w.Close().Find("drive.cpu.time") {
		if m.Value < 0.010 || out.CPU < 10*ms {
			t.Errorf("drive.cpu.time = %v s, outcome %v, want at least 10 ms", m.Value, out.CPU)
		}
		return
	}
	t.Error("no drive.cpu.time")
}
