package drive_test

import (
	"context"
	"errors"
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
// the stall wait 1 s, 0.99 s, …, 0.01 s: 475 wait at most 0.75 s, which is the
// p95. The service time saw the stall 6 times of 500.
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
		want := waits[500*95/100-1] // nearest rank
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
