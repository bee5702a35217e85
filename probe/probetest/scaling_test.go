package probetest

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// A pace is a clock that operations move, by what they cost and some noise.
type pace struct {
	now    time.Duration
	random *rand.Rand
	spread float64
}

func newPace(spread float64) *pace {
	return &pace{random: rand.New(rand.NewPCG(1, 1)), spread: spread}
}

func (p *pace) clock() clock {
	return clock{
		cpu: func() (time.Duration, error) { return p.now, nil },
		now: func() time.Time { return time.Unix(0, int64(p.now)) },
	}
}

// work takes as long as its parts at n = 10,000 take together, in µs.
func (p *pace) work(n int, constant, linear, quadratic float64) {
	x := float64(n) / 10_000
	p.now += time.Duration(1000 * (constant + linear*x + quadratic*x*x) * math.Exp(p.spread*p.random.NormFloat64()))
}

// scalings are checks whose texts are in golden files.
var scalings = []struct {
	name   string
	s      Scaling
	spread float64
	op     func(p *pace, l *ledger, n int)
	fails  bool
}{
	{"scaling-within", Scaling{}, 0.015, func(p *pace, l *ledger, n int) { p.work(n, 100, 900, 0) }, false},
	{"scaling-cpu", Scaling{}, 0.015, func(p *pace, l *ledger, n int) { p.work(n, 0, 500, 500) }, true},
	{"scaling-constant-quadratic", Scaling{Bound: Linear}, 0.015, func(p *pace, l *ledger, n int) { p.work(n, 500, 0, 500) }, true},
	{"scaling-beside-counts", Scaling{Counts: map[string]Growth{"queries/op": Constant}}, 0.015, func(p *pace, l *ledger, n int) {
		p.work(n, 0, 200, 800)
		l.run(3, get)
		l.Counter(testOps, probe.Attr{Key: attrFileOperation, Value: "read"}).Add(int64(n / 100))
	}, true},
	{"scaling-counts", Scaling{Counts: map[string]Growth{"queries/op": Constant, "fs-ops/op": Linear}}, 0.015, func(p *pace, l *ledger, n int) {
		p.work(n, 0, 1000, 0)
		l.run(1, tokens)
		l.run(n/50, hashed(get, 1, "fleet.go:88"))
		l.Counter(testOps, probe.Attr{Key: attrFileOperation, Value: "read"}).Add(int64(n * n / 1e5))
	}, true},
	{"scaling-unclear", Scaling{}, 0.5, func(p *pace, l *ledger, n int) { p.work(n, 720, 0, 280) }, false},
	{"scaling-dropped", Scaling{Sizes: []int{100, 200, 400, 800, 1_600, 3_200, 6_400}, Limit: 8 * time.Second}, 0.015, func(p *pace, l *ledger, n int) { p.work(n, 0, 100e3, 900e3) }, true},
	{"scaling-too-few", Scaling{Limit: 300 * time.Millisecond, Counts: map[string]Growth{"queries/op": Constant}}, 0.015, func(p *pace, l *ledger, n int) {
		p.work(n, 0, 10e3, 0)
		l.run(3, get)
	}, false},
	{"scaling-no-data", Scaling{Counts: map[string]Growth{"queries/op": Constant, "cpu-ns/op": Linear, "querys/op": Linear}}, 0.015,
		func(p *pace, l *ledger, n int) { p.work(n, 0, 1000, 0) }, true},
}

func TestScalingTexts(t *testing.T) {
	for _, tt := range scalings {
		t.Run(tt.name, func(t *testing.T) {
			p, l := newPace(tt.spread), newLedger(texts...)
			s := tt.s
			s.clock = p.clock()
			if s.Counts != nil {
				s.Probes = []probe.Probe{l}
			}
			j := &judged{TB: t}
			s.Check(j, func(_ testing.TB, n int) func() { return func() { tt.op(p, l, n) } })
			said := append(j.errors, j.logs...)
			if failed := len(j.errors) > 0; failed != tt.fails || len(said) != 1 {
				t.Fatalf("failed: got %t, want %t: %q", failed, tt.fails, said)
			}
			golden(t, tt.name, said[0])
		})
	}
}

// TestScalingStrict: what was not judged fails if the machine is known to be quiet,
// and what is within the bound does not.
func TestScalingStrict(t *testing.T) {
	t.Setenv(strictVar, "1")
	for _, tt := range []struct {
		name  string
		cpu   func() (time.Duration, error)
		share float64
		want  string // of the error
	}{
		{"no clock", func() (time.Duration, error) { return 0, errors.ErrUnsupported }, 0, "CPU time was not judged: unsupported operation"},
		{"unclear", nil, 0.28, "is not clear"},
		{"within", nil, 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPace(0.5)
			s := Scaling{clock: p.clock()}
			if tt.cpu != nil {
				s.clock.cpu = tt.cpu
			}
			if tt.share == 0 {
				p.spread = 0
			}
			j := &judged{TB: t}
			s.Check(j, func(_ testing.TB, n int) func() { return func() { p.work(n, 1000*(1-tt.share), 0, 1000*tt.share) } })
			if got := strings.Join(j.errors, "\n"); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestScalingRefuses(t *testing.T) {
	for want, s := range map[string]Scaling{
		"probetest: no verdict on 2 sizes [2500 10000]": {Sizes: []int{2_500, 10_000}},
		"probetest: no such order: 7":                   {Bound: 7},
		"probetest: a limit of -1s":                     {Limit: -time.Second},
		"probetest: queries/op: no such growth: -1":     {Counts: map[string]Growth{"queries/op": -1}},
	} {
		j := &judged{TB: t}
		s.Check(j, func(testing.TB, int) func() { panic("nothing is measured") })
		if len(j.errors) != 1 || !strings.HasPrefix(j.errors[0], want) {
			t.Errorf("got %q, want %q", j.errors, want)
		}
	}
}

// TestScalingSetUpEnds: what a set-up registers for its end ends before the next
// sample is made, the last first, and so do its folders.
func TestScalingSetUpEnds(t *testing.T) {
	p, l := newPace(0), newLedger(texts...)
	var dirs []string
	var ended []int
	samples := 0
	prepare := func(t testing.TB, n int) func() {
		dirs = slices.DeleteFunc(dirs, func(dir string) bool {
			_, err := os.Stat(dir)
			return errors.Is(err, os.ErrNotExist)
		})
		if len(dirs) >= 16 {
			t.Errorf("%d folders are there, more than one sample has", len(dirs))
		}
		dirs = append(dirs, t.TempDir())
		id := len(ended)
		t.Cleanup(func() {
			t.Cleanup(func() { ended = append(ended, -id) }) // one that registers another
			samples++
		})
		return func() { p.work(n, 0, 1000, 0) }
	}
	j := &judged{TB: t}
	Scaling{Probes: []probe.Probe{l}, clock: p.clock()}.Check(j, prepare)
	if len(j.errors) > 0 || samples == 0 || len(ended) != samples {
		t.Errorf("got errors %q; %d of %d ends", j.errors, len(ended), samples)
	}
	for _, dir := range dirs {
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left (%v)", dir, err)
		}
	}
}

// A fatal is a test that ends the goroutine when it fails.
type fatal struct{ judged }

func (f *fatal) Fatalf(format string, args ...any) {
	f.Errorf(format, args...)
	runtime.Goexit()
}

// fail ends the test, or rather the goroutine, as a set-up does that cannot go on.
func fail(t testing.TB) { t.Fatalf("no data") }

// TestScalingSetUpFails: a set-up that ends the test leaves nothing behind, in
// measurements and in counts, and the next check can measure.
func TestScalingSetUpFails(t *testing.T) {
	for name, at := range map[string]int{"first": 1, "in a batch": 20, "counting": 226} {
		t.Run(name, func(t *testing.T) {
			p, l := newPace(0), newLedger(texts...)
			f := &fatal{judged{TB: t}}
			made, open := 0, 0
			done := make(chan bool)
			go func() {
				returned := false
				defer func() { done <- returned }()
				Scaling{Probes: []probe.Probe{l}, clock: p.clock()}.Check(f, func(t testing.TB, n int) func() {
					open++
					t.Cleanup(func() { open-- })
					if made++; made == at {
						fail(t)
					}
					return func() { p.work(n, 0, 1000, 0) }
				})
				returned = true
			}()
			if returned := <-done; returned || open != 0 || made != at || !slices.Equal(f.errors, []string{"no data"}) {
				t.Errorf("got %t, %d open of %d, %q", returned, open, made, f.errors)
			}
		})
	}
	if !measuring.TryLock() {
		t.Fatal("nobody can measure any more")
	}
	measuring.Unlock()
}

// TestScalingReal: with the machine's own clock there is a verdict of some kind.
func TestScalingReal(t *testing.T) {
	j := &judged{TB: t}
	sum := 0
	Scaling{Limit: 2 * time.Second}.Check(j, func(_ testing.TB, n int) func() {
		return func() {
			for range 10 * n {
				sum += sum*31 + 1
			}
		}
	})
	said := append(j.errors, j.logs...)
	if len(said) != 1 || !strings.HasPrefix(said[0], "CPU time ") {
		t.Errorf("got %q", said)
	}
	t.Log(said)
}
