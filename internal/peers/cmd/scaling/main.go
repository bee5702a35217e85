// Command scaling measures how often the check of package probetest for
// super-linear growth is wrong, and writes it to bench/<date>-scaling.txt: for
// each of some operations whose growth is known, how many of many checks said that
// it exceeds n log n.
//
//	go run ./internal/peers/cmd/scaling
//	go run ./internal/peers/cmd/scaling -trials 20 -case sort -out -
//
// It takes about an hour and a half, and wants a quiet machine: the processes that compute
// beside some of the cases are its own. It fails, after writing, if there are more
// false alarms or fewer detections than promised.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/tidestaff/tidestaff/internal/growth"
	"github.com/tidestaff/tidestaff/internal/peers/conditions"
	"github.com/tidestaff/tidestaff/internal/proc"
)

type flags struct {
	trials    int
	only, out string
}

// limit is how long a check may take on a machine that is busier than it should be.
const limit = 30 * time.Second

func main() {
	if hogging() {
		return
	}
	var f flags
	flag.IntVar(&f.trials, "trials", 500, "check each case this many `times`")
	flag.StringVar(&f.only, "case", "", "check this `case` only")
	flag.StringVar(&f.out, "out", "", "write to this `file`; empty means bench/<date>-scaling.txt of the repository, - means nowhere")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, f); err != nil {
		fmt.Fprintln(os.Stderr, "scaling:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, f flags) error {
	before := conditions.Load()
	results, err := study(ctx, f)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := conditions.Write(&text, fmt.Sprintf("go run ./internal/peers/cmd/scaling -trials %d", f.trials), before); err != nil {
		return err
	}
	write(&text, results)
	if err := conditions.Save(ctx, f.out, "scaling", text.Bytes()); err != nil {
		return err
	}
	if _, err := os.Stdout.Write(text.Bytes()); err != nil {
		return err
	}
	return kept(results)
}

// study checks all cases in turn, trial by trial, so that a busy half minute of the
// machine falls on all of them alike.
func study(ctx context.Context, f flags) ([]*result, error) {
	var results []*result
	for _, c := range cases() {
		if f.only == "" || f.only == c.name {
			results = append(results, &result{study: c})
		}
	}
	if len(results) == 0 {
		return nil, fmt.Errorf("no case %q", f.only)
	}
	for range f.trials {
		for _, r := range results {
			if err := r.try(ctx); err != nil {
				return nil, err
			}
		}
	}
	return results, nil
}

// try checks once.
func (r *result) try(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if r.study.hogs {
		end, err := hog(ctx, hogs)
		if err != nil {
			return err
		}
		defer end()
	}
	began := time.Now()
	c := growth.Check{Sizes: sizes, Bound: growth.NLogN, Limit: limit,
		Prepare: r.study.prepare, Done: func() {}, CPU: proc.ReadCPUClock, Now: time.Now}
	got := c.Run()
	r.add(got, time.Since(began), singles(r.study.prepare))
	return nil
}

// singles is the ratio of the times of two single runs, at the largest size and at
// a quarter of it.
func singles(prepare func(n int) func()) float64 {
	once := func(n int) time.Duration {
		op := prepare(n)
		began := time.Now()
		op()
		return time.Since(began)
	}
	small := once(largest / 4)
	return float64(once(largest)) / float64(max(small, 1))
}
