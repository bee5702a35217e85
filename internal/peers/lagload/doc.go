// Package lagload puts package lag beside what a Go service would use instead
// and beside the truth: how long a byte that another process sends over TCP
// waits until the goroutine that reads it runs. All of them look at the same
// process, at the same time, under the same load.
//
// # What is compared
//
// The readers of a run:
//
//	tcp             the true wait: the sender's clock before its write, the reader's after its read
//	lag total       package lag: from a slot's deadline until it was served
//	lag queue       the part of it through the run queue, the one to shed load by
//	lag timer       the part before, until the probe's goroutine ran
//	now-tick        a bare time.Ticker, read as well as one can: when the tick was taken less when it was due
//	tick-tick-P     the distance of two ticks less the period: since Go 1.23 both are scheduled times
//	now-now-P       the distance of two receipts less the period: negative after each delay
//	sleep-P         what a time.Sleep took beyond what was asked for
//	node interval   what Node's monitorEventLoopDelay samples: the whole distance of two calls of a timer of 10 ms
//	sched/latencies the runtime's histogram, which counts 1 in 8 goroutines that became runnable
//
// The loads: none, four goroutines a processor that compute, 1,000 goroutines
// that compute for 100 µs and yield, an HTTP server with 64 clients in another
// process (0.5 ms of CPU time a request), and goroutines that allocate beside
// 256 MB of live pointers.
//
// The limits: lag's queue part within 3 times of the truth at the median and 2
// times at the 99th percentile, the total within 4 and 3 times, both ways, under
// every load but none. An idle process wakes from a timer up to a millisecond
// late and from the network at once, so that there the two differ by nature.
//
// A limit that was not kept while other processes had the processors for more than
// 40 % of the time is called inconclusive.
//
// The second half is what the probe costs, see [Cost].
//
// # Accuracy and limits
//
// The sender is a process of the same program on the same machine, so that both
// stamp by CLOCK_MONOTONIC. Its bytes come at random times, one a period on
// average, and never wait for an answer: those that arrive during a stall all
// count, with the whole time that they waited. What the sender itself is late
// does not count. The readers' timers share the process and can delay each other
// by microseconds; their schedules are shifted against each other.
//
// `go run ./internal/peers/cmd/lagload` runs it. It is for Linux.
package lagload
