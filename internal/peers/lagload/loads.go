package lagload

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// A load is what the process does meanwhile. start returns when it is on.
type load struct {
	name  string
	start func() (stop func(), err error)
}

// loads are in the order of the tables. The first is none, which is not judged.
var loads = []load{
	{"idle", func() (func(), error) { return func() {}, nil }},
	{"CPU-bound", func() (func(), error) { return spinners(4 * runtime.GOMAXPROCS(0)), nil }},
	{"1,000 runnable", func() (func(), error) { return yielders(1000, 100*time.Microsecond), nil }},
	{"HTTP, 64 clients", func() (func(), error) { return server(64, 500*time.Microsecond) }},
	{"GC-heavy", func() (func(), error) { return churners(runtime.GOMAXPROCS(0), 256<<20), nil }},
}

// sink keeps the compiler from leaving out what nobody needs.
var sink atomic.Uint64

// spin computes for so many rounds of about a nanosecond.
func spin(rounds int) {
	x := uint64(rounds) | 1
	for range rounds {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	sink.Store(x)
}

// roundsIn is how many rounds take so much CPU time: the best of several looks,
// because other processes only ever make one longer.
var roundsPerMs = sync.OnceValue(func() int {
	const rounds = 1_000_000
	best := int64(1 << 62)
	for range 10 {
		from := probe.Now()
		spin(rounds)
		best = min(best, probe.Now()-from)
	}
	return int(rounds * int64(time.Millisecond) / max(best, 1))
})

func roundsIn(d time.Duration) int {
	return int(int64(roundsPerMs()) * int64(d) / int64(time.Millisecond))
}

// repeat has n goroutines do something again and again until it is stopped.
func repeat(n int, do func()) (stop func()) {
	var stopped atomic.Bool
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			for !stopped.Load() {
				do()
			}
		})
	}
	return func() {
		stopped.Store(true)
		wg.Wait()
	}
}

// spinners use up each of their turns.
func spinners(n int) (stop func()) {
	rounds := roundsIn(time.Millisecond)
	return repeat(n, func() { spin(rounds) })
}

// yielders are a long run queue of short turns.
func yielders(n int, turn time.Duration) (stop func()) {
	rounds := roundsIn(turn)
	return repeat(n, func() {
		spin(rounds)
		runtime.Gosched()
	})
}

// server serves clients of another process, each request for some CPU time.
func server(clients int, work time.Duration) (stop func(), err error) {
	rounds := roundsIn(work)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { spin(rounds) })}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	c, err := startChild(fmt.Sprintf("request %s %d", l.Addr(), clients))
	if err != nil {
		_ = srv.Close()
		return nil, errors.Join(err, <-served)
	}
	return func() {
		c.end()
		_ = srv.Shutdown(context.Background())
		<-served
	}, nil
}

// A node is 64 bytes that the garbage collector must follow.
type node struct {
	next *node
	_    [7]uint64
}

// churners allocate as fast as they can beside live bytes in small pieces.
func churners(n int, live int) (stop func()) {
	held := make([]*node, live/64)
	for i := range held {
		held[i] = new(node)
		if i > 0 {
			held[i].next = held[i*7/8]
		}
	}
	end := repeat(n, func() {
		var chain *node
		for range 10_000 {
			chain = &node{next: chain}
		}
		runtime.KeepAlive(chain)
	})
	return func() {
		end()
		runtime.KeepAlive(held)
		clear(held)
		runtime.GC()
	}
}
