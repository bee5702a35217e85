package drive_test

import (
	"context"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidestaff/tidestaff/examples/internal/drive"
)

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
