// Command spikes measures how much of short spikes of memory the peaks of
// package cgroup see, exact and sampled ones, and writes the tables, with each
// spike and with the conditions of the run, to bench/<date>-spikes.txt:
//
//	go run ./internal/peers/cmd/spikes
//	go run ./internal/peers/cmd/spikes -n 20 -out -
//
// It takes two minutes. It fails, after writing, if a peak was labelled exact or
// sampled and was not.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"github.com/tidestaff/tidestaff/internal/peers/conditions"
	"github.com/tidestaff/tidestaff/internal/peers/spikes"
)

func main() {
	s := spikes.Default()
	out := flag.String("out", "", "write to this `file`; empty means bench/<date>-spikes.txt of the repository, - means nowhere")
	flag.IntVar(&s.Spikes, "n", s.Spikes, "make this many `spikes`")
	flag.Uint64Var(&s.Seed, "seed", s.Seed, "draw them from this `seed`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, s, *out); err != nil {
		fmt.Fprintln(os.Stderr, "spikes:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, s spikes.Study, out string) error {
	before := conditions.Load()
	r, err := s.Run(ctx)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	madeBy := fmt.Sprintf("go run ./internal/peers/cmd/spikes -n %d -seed %d", s.Spikes, s.Seed)
	if err := conditions.Write(&text, madeBy, before); err != nil {
		return err
	}
	text.WriteString("\n")
	if err := r.Write(&text); err != nil {
		return err
	}
	if err := conditions.Save(ctx, out, "spikes", text.Bytes()); err != nil {
		return err
	}
	if _, err := os.Stdout.Write(text.Bytes()); err != nil {
		return err
	}
	if n := len(r.Complaints); n > 0 {
		return fmt.Errorf("%d labels were not as expected", n)
	}
	return nil
}
