package growth

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// A machine makes times noisy as a machine with other work does: it runs at one
// speed or at half of it for some rounds at a time, or for a sample, drifts, and
// disturbs single samples.
type machine struct {
	random  *rand.Rand
	spread  float64 // of a sample, relative
	changes bool    // the speed is each sample's own
	slow    bool
}

func (m *machine) round(times []float64) []float64 {
	if m.random.Float64() < 0.15 {
		m.slow = !m.slow
	}
	drift := 1 + m.spread*m.random.NormFloat64()/3
	noisy := make([]float64, len(times))
	for i, x := range times {
		noisy[i] = x * drift * math.Exp(m.spread*m.random.NormFloat64())
		if m.changes {
			m.slow = m.random.Float64() < 0.4
		}
		if m.slow != (m.random.Float64() < 0.05) { // or the speed changes within the round
			noisy[i] *= 1.85
		}
		if m.random.Float64() < 0.08 {
			noisy[i] *= 1 + m.random.ExpFloat64() // an interrupt, a collection
		}
	}
	return noisy
}

// trial is what a check concludes of work with these times.
func (m *machine) trial(bound Order, sizes []int, times []float64) Result {
	r := Result{Sizes: sizes}
	var noisy [][]float64
	for look := rounds; look <= mostRounds && !r.sure(); look *= 2 {
		for len(noisy) < look {
			noisy = append(noisy, m.round(times))
		}
		r.conclude(bound, noisy)
	}
	return r
}

// TestErrorRates holds the decision to what is promised of it over seeded trials:
// at most 1 % false alarms and at least 99 % detections of a share of a half.
func TestErrorRates(t *testing.T) {
	const trials = 100
	for _, tt := range []struct {
		name  string
		times []float64
		grows bool
	}{
		{"linear", mixed(testSizes, 0, 1, 0, 0), false},
		{"constant + linear", mixed(testSizes, 0.5, 0.5, 0, 0), false},
		{"constant", mixed(testSizes, 1, 0, 0, 0), false},
		{"n log n", mixed(testSizes, 0, 0, 1, 0), false},
		{"linear + half quadratic", mixed(testSizes, 0, 0.5, 0, 0.5), true},
		{"constant + half quadratic", mixed(testSizes, 0.5, 0, 0, 0.5), true},
		{"n log n + half quadratic", mixed(testSizes, 0, 0, 0.5, 0.5), true},
		{"quadratic", mixed(testSizes, 0, 0, 0, 1), true},
	} {
		for _, noise := range []machine{{spread: 0.03}, {spread: 0.08}, {spread: 0.08, changes: true}, {spread: 0.15}, {spread: 0.15, changes: true}} {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				m := noise
				m.random = rand.New(rand.NewPCG(7, 7))
				var verdicts [Unclear + 1]int
				used := 0
				for range trials {
					r := m.trial(NLogN, testSizes, tt.times)
					verdicts[r.Verdict]++
					used += r.Rounds
				}
				about := fmt.Sprintf("spread %v, speed of each sample %t", noise.spread, noise.changes)
				t.Logf("%s: %d exceed, %d within, %d unclear, %.1f rounds", about, verdicts[Exceeds], verdicts[Within], verdicts[Unclear], float64(used)/float64(trials))
				wrong := verdicts[Exceeds]
				if tt.grows {
					wrong = trials - verdicts[Exceeds]
				}
				if wrong > trials/100 {
					t.Errorf("%s: %d of %d verdicts are wrong", about, wrong, trials)
				}
			})
		}
	}
}

// TestInterval: the interval holds the share of the true times in most trials.
func TestInterval(t *testing.T) {
	times := mixed(testSizes, 0.2, 0.4, 0, 0.4)
	want := newModel(Linear, testSizes).excess(times)
	m := &machine{random: rand.New(rand.NewPCG(3, 3)), spread: 0.05}
	const trials = 150
	held := 0
	for range trials {
		r := Result{Sizes: testSizes}
		var noisy [][]float64
		for range sureRounds {
			noisy = append(noisy, m.round(times))
		}
		r.conclude(Linear, noisy)
		if r.Low <= want && want <= r.High {
			held++
		}
		if r.Low > r.Share || r.Share > r.High {
			t.Fatalf("the share %v is not within %v to %v", r.Share, r.Low, r.High)
		}
	}
	if held < trials*95/100 {
		t.Errorf("got %d of %d intervals of 99 %% that hold the true share %v", held, trials, want)
	}
}

// TestConclusion: the numbers beside the verdict, on times without noise.
func TestConclusion(t *testing.T) {
	var times [][]float64
	for i := range rounds {
		round := mixed(testSizes, 0, 0.5, 0, 0.5)
		for j := range round {
			round[j] *= float64(1 + i) // each round at a speed of its own
		}
		times = append(times, round)
	}
	r := Result{Sizes: testSizes}
	r.conclude(NLogN, times)
	near := func(got, want float64) bool { return math.Abs(got-want) < 0.01*want }
	// Of 1 ms at the largest size in the fastest round: 5,000 has 0.375.
	if r.Verdict != Exceeds || !near(r.Times[4], 1e6) || !near(r.Times[3], 0.375e6) || r.Calm {
		t.Errorf("got %v with times %v", r.Verdict, r.Times)
	}
	if !near(r.Superlinear, 0.5) || r.From != 2_500 || !near(r.Ratio, 1/0.15625) || r.Slope < 1.1 || r.Slope > 1.5 {
		t.Errorf("got share %v, ratio %v from %d, slope %v", r.Superlinear, r.Ratio, r.From, r.Slope)
	}
	if !near(r.Low, r.Share) || !near(r.High, r.Share) {
		t.Errorf("got an interval of %v to %v around %v, of times that agree", r.Low, r.High, r.Share)
	}
}
