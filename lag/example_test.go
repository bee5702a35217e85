package lag_test

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime/trace"
	"slices"
	"sync"
	"time"

	"github.com/tidestaff/tidestaff/lag"
	"github.com/tidestaff/tidestaff/probe"
)

func Example() {
	p := lag.New(lag.Options{Interval: 5 * time.Millisecond})
	w, err := p.Watch()
	if err != nil {
		fmt.Println(err)
		return
	}
	time.Sleep(100 * time.Millisecond) // the load

	stats, ok := lag.StatsOf(w.Close())
	total := stats.Total // a lag.Part: total.P50, total.P95, total.P99, total.Max
	fmt.Println(ok, total.Count > 0, total.P50 <= total.Max)
	// Output: true true true
}

// Middleware that sheds load while what the service has accepted waits for its
// turn in the one goroutine that does the work. Where nobody measures, nothing
// is known: it says so and does not pass for healthy.
func ExampleProbe_Pending() {
	mailbox := make(chan func()) // an actor's, who is stuck
	loop := lag.New(lag.Options{
		Interval: 2 * time.Millisecond,
		Through:  func(beat func()) { mailbox <- beat },
	})
	shed := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			switch age, watched := loop.Pending(); {
			case !watched:
				rw.Header().Set("Lag", "unknown")
			case age > 20*time.Millisecond:
				rw.Header().Set("Retry-After", "1")
				http.Error(rw, "overloaded", http.StatusServiceUnavailable)
				return
			}
			next.ServeHTTP(rw, r)
		})
	}
	handler := shed(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	ask := func() {
		rec := httptest.NewRecorder()
		handler.ServeHTTP(rec, httptest.NewRequest("GET", "/", nil))
		fmt.Println(rec.Code, rec.Header().Get("Lag"))
	}

	ask()
	w, err := loop.Watch() // for the life of the service
	if err != nil {
		fmt.Println(err)
		return
	}
	for age := time.Duration(0); age < 30*time.Millisecond; age, _ = loop.Pending() {
		time.Sleep(time.Millisecond)
	}
	ask()
	go func() { // it is unstuck
		for f := range mailbox {
			f()
		}
	}()
	w.Close()
	// Output:
	// 200 unknown
	// 503
}

// The lag of a loop of the application's, here of all that takes one lock.
func ExampleOptions_through() {
	var mu sync.Mutex
	loop := lag.New(lag.Options{
		Name: "index", Interval: 5 * time.Millisecond,
		Through: func(beat func()) { mu.Lock(); defer mu.Unlock(); beat() },
	})
	w, err := probe.NewSet(loop, lag.New(lag.Options{Interval: 5 * time.Millisecond})).Watch() // both share one ticker
	if err != nil {
		fmt.Println(err)
		return
	}
	mu.Lock()
	time.Sleep(50 * time.Millisecond) // what holds the lock up
	mu.Unlock()
	reading := w.Close()
	stats, ok := lag.LoopStatsOf(reading, "index")
	fmt.Println(ok, stats.Total.Max > 30*time.Millisecond, stats.BeatGap > 30*time.Millisecond)
	// Output: true true true
}

// Stalls are events. A cause has its weight and its evidence, and if the probes
// are members of a Set, the event names what overlapped it.
func ExampleStallsOf() {
	var mu sync.Mutex
	ops := new(probe.Ops)
	loop := lag.New(lag.Options{
		Name: "index", Interval: 5 * time.Millisecond, Threshold: 100 * time.Millisecond,
		Through: func(beat func()) { mu.Lock(); defer mu.Unlock(); beat() },
	})
	w, err := probe.NewSet(loop, ops).Watch()
	if err != nil {
		fmt.Println(err)
		return
	}
	mu.Lock()
	_, op := ops.Begin(probe.WithRole(context.Background(), "background:compaction"), "compact")
	time.Sleep(time.Second) // what holds the lock up
	op.End(nil)
	mu.Unlock()

	byLength := func(a, b lag.Stall) int { return cmp.Compare(a.Duration, b.Duration) }
	var stall lag.Stall = slices.MaxFunc(lag.StallsOf(w.Close()), byLength)
	var cause lag.RankedCause = stall.Causes[0] // on a quiet machine lag.CauseApplication
	var held bool
	for _, o := range stall.Overlaps {
		held = held || o.Name == "compact" && o.Role == "background:compaction"
	}
	fmt.Println(stall.Loop, stall.Duration > 200*time.Millisecond, cause.Evidence != "", held)
	// Output: true true true true
}

// An alert of one's own: stalls that the process could not help.
func ExampleCause() {
	hosts := func(s lag.Stall) bool {
		first := s.Causes[0].Cause
		return first == lag.CauseHost || first == lag.CauseThrottled || first == lag.CauseStopped
	}
	fmt.Println(hosts(lag.Stall{Causes: []lag.RankedCause{{Cause: lag.CauseThrottled, Weight: 0.9}}}))
	// Output: true
}

// A loop that is held up leaves a goroutine profile, and what the service's own
// flight recorder holds, in files that its event names.
func ExampleCapture() {
	recorder := trace.NewFlightRecorder(trace.FlightRecorderConfig{}) // the service's, started with it
	var source lag.FlightRecorder = recorder
	dir, err := os.MkdirTemp("", "captures-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)

	var mu sync.Mutex
	p := lag.New(lag.Options{
		Interval: 5 * time.Millisecond, Threshold: 50 * time.Millisecond,
		Through: func(beat func()) { mu.Lock(); beat(); mu.Unlock() },
		Capture: lag.Capture{Dir: dir, Goroutines: true, Trace: source, Cooldown: time.Millisecond},
	})
	w, err := p.Watch()
	if err != nil {
		fmt.Println(err)
		return
	}
	mu.Lock()
	for files := []string(nil); len(files) == 0; { // until it is taken
		time.Sleep(50 * time.Millisecond)
		files, _ = filepath.Glob(filepath.Join(dir, "*.goroutines"))
	}
	mu.Unlock()

	var files []lag.CaptureFile = lag.StallsOf(w.Close())[0].Captures
	for _, f := range files {
		fmt.Printf("%s %q %t %q\n", f.Kind, filepath.Ext(f.Path), f.Bytes > 0, f.Reason)
	}
	// Output:
	// goroutines ".goroutines" true ""
	// trace "" false "the flight recorder is not running"
}
