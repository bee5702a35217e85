package drive

import (
	"context"
	"math/rand/v2"
	"time"
)

// arrivals returns the function that gives an activity's due times one by one,
// as offsets from the start of the run, in ascending order. Nothing but rng
// decides them.
func (a *Activity) arrivals(rng *rand.Rand) func() time.Duration {
	switch {
	case a.Every > 0:
		return a.periods(rng)
	case a.Max > 0:
		gap := func() time.Duration { return a.Min + draw(rng, a.Max-a.Min) }
		return sum(a.first(func() time.Duration { return draw(rng, gap()) }), gap)
	case a.Poisson:
		gap := func() time.Duration { return time.Duration(rng.ExpFloat64() * float64(time.Second) / a.Rate) }
		return sum(a.first(gap), gap)
	default:
		k := -1.0
		return func() time.Duration { // from k, not by adding: no rounding error grows
			k++
			return a.First + time.Duration(k*float64(time.Second)/a.Rate)
		}
	}
}

// periods is a grid, each of whose points is moved by up to the jitter.
func (a *Activity) periods(rng *rand.Rand) func() time.Duration {
	grid := a.first(func() time.Duration { return draw(rng, a.Every) })
	most := time.Duration(a.Jitter * float64(a.Every))
	return func() time.Duration {
		due := grid
		if most > 0 {
			due += draw(rng, 2*most) - most
		}
		grid += a.Every
		return max(due, 0)
	}
}

// first is a.First, or else what random gives.
func (a *Activity) first(random func() time.Duration) time.Duration {
	if a.First > 0 {
		return a.First
	}
	return random()
}

// sum turns gaps into due times.
func sum(first time.Duration, gap func() time.Duration) func() time.Duration {
	next := first
	return func() time.Duration {
		due := next
		next += gap()
		return due
	}
}

// draw is uniform over 0 to d inclusive.
func draw(rng *rand.Rand, d time.Duration) time.Duration {
	return time.Duration(rng.Int64N(int64(d) + 1))
}

// The kinds of random streams.
const (
	streamActivity = iota
	streamScript
	streamRun
)

// stream is a random stream of its own for each path, and the same one for the
// same seed: the path (user, kind, index, …) is hashed into PCG's second word.
func stream(seed uint64, path ...int) *rand.Rand {
	h := uint64(0x9e3779b97f4a7c15)
	for _, p := range path {
		h = mix(h + uint64(p))
	}
	return rand.New(rand.NewPCG(seed, h))
}

// mix spreads close numbers over all 64 bits: two rounds of multiply and
// shift, a bijection.
func mix(x uint64) uint64 {
	x = (x ^ x>>32) * 0xd6e8feb86659fd93
	x = (x ^ x>>32) * 0xd6e8feb86659fd93
	return x ^ x>>32
}

type randKey struct{}

// Rand returns the random numbers of the activity's run that ctx belongs to:
// they depend on the seed, the user, the activity and the run's number, and on
// nothing that happens. In any other context they are those of seed 0.
func Rand(ctx context.Context) *rand.Rand {
	if rng, ok := ctx.Value(randKey{}).(*rand.Rand); ok {
		return rng
	}
	return stream(0)
}
