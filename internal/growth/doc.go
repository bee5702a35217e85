// Package growth tells how the CPU time of an operation grows with the size of its
// data, and whether that is faster than a bound.
//
// # What is measured
//
// A [Check] executes an operation at some sizes, in rounds, always on fresh data,
// and reads the CPU clock of the process before and after. To the undisturbed times of
// the sizes it fits
//
//	t(n) = c + a·g(n) + b·n·g(n)
//
// where g is the bound, with no term below zero. The share that the last term has of
// t at the largest size is the excess. It is fitted again to rounds drawn from the
// measured ones, which gives an interval, and that a verdict: within the bound,
// exceeds it, or unclear. Seven rounds are enough if they hardly differ; else there are 56,
// and more while the verdict is unclear, up to 448.
//
// # Accuracy and limits
//
// On work that is half quadratic at the largest size, and on work that is not
// quadratic at all, at most one verdict in a hundred was wrong in thousands of
// seeded trials with the noise of a busy machine (this package's tests);
// internal/peers/cmd/scaling measures the rates on real work. With n log n as the
// bound a quadratic share below about 40 % is within: n log n bends a little itself.
//
// A working set that leaves a cache of the processor makes work dearer per item, as
// work of a higher order does. Time alone cannot tell the two apart.
//
// The clock is the process's: what other goroutines do meanwhile is in it.
//
// # Concurrency
//
// One check at a time, or they measure each other.
//
// # Cost
//
// A round takes about as long as five operations at the largest size, or with c
// large as one at each size, and their set-ups; and a garbage collection for each
// size.
//
// # Platforms
//
// All; the caller has the clock, which must be exact to the microsecond.
package growth
