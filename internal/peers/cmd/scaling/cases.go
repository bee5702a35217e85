package main

import (
	"math/rand/v2"
	"slices"
)

// sizes are those that the documentation shows.
var sizes = []int{625, 1_250, 2_500, 5_000, 10_000}

var largest = sizes[len(sizes)-1]

// A growing is an operation whose growth is known.
type growing struct {
	name    string
	grows   bool // faster than n log n
	hogs    bool // processes compute beside it
	prepare func(n int) func()
}

// cases are the operations. The parts of those that are sums are equal at the
// largest size.
func cases() []growing {
	var all []growing
	for _, hogs := range []bool{false, true} {
		all = append(all,
			growing{"linear", false, hogs, hashing(0, 1, 0)},
			growing{"constant + linear", false, hogs, hashing(1, 1, 0)},
			growing{"n log n (sort)", false, hogs, sorting},
			growing{"linear, GC-heavy", false, hogs, allocating})
	}
	return append(all,
		growing{"linear + 50 % quadratic", true, true, hashing(0, 1, 1)},
		growing{"constant + 50 % quadratic", true, true, hashing(1, 0, 1)})
}

// sink keeps results from being optimised away.
var sink uint64

// A record is what the operations that hash work on.
type record [8]uint64

// hash is some 50 ns of work on a record.
func (r *record) hash() uint64 {
	h := uint64(14695981039346656037)
	for _, w := range r {
		for range 4 {
			h = (h ^ w&0xffff) * 1099511628211
			w >>= 16
		}
	}
	return h
}

// fill fills records with what nobody foresees (xorshift64), at a fraction of what
// the operation costs: set-up would be most of a check.
func fill(records []record) {
	x := rand.Uint64() | 1
	for i := range records {
		for j := range records[i] {
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
			records[i][j] = x
		}
	}
}

// hashing makes an operation on n records that hashes each as often as the parts
// say that grow with n, as a record for each pair would be, scaled to as many as
// there are at the largest size, and the first one for the part that is constant.
func hashing(constant, linear, quadratic int) func(n int) func() {
	return func(n int) func() {
		records := make([]record, n)
		fill(records)
		pairs := quadratic * n * n / largest
		return func() {
			for range constant * largest {
				sink += records[0].hash()
			}
			for range linear {
				for i := range records {
					sink += records[i].hash()
				}
			}
			for i := range pairs {
				sink += records[i%n].hash()
			}
		}
	}
}

// sorting sorts n numbers.
func sorting(n int) func() {
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = rand.Int()
	}
	return func() { slices.Sort(numbers) }
}

// allocating makes a map of n lists, and as much garbage beside each.
func allocating(n int) func() {
	keys := make([]int, n)
	for i := range keys {
		keys[i] = rand.Int()
	}
	return func() {
		lists := map[int][]*record{}
		for _, k := range keys {
			for range 2 {
				lists[k] = append(lists[k], new(record))
			}
		}
		sink += uint64(len(lists))
	}
}
