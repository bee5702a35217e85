// Command lagload puts package lag beside a bare ticker, the runtime's histogram
// and the true wait of a byte from another process, under five loads, measures
// what the probe costs, and writes the tables with the conditions of the run to
// bench/<date>-lag.txt:
//
//	go run ./internal/peers/cmd/lagload
//	go run ./internal/peers/cmd/lagload -for 5s -look 0 -out -
//
// It takes under six minutes. It fails, after writing, if lag was farther from the
// truth than it promises.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/tidestaff/tidestaff/internal/peers/conditions"
	"github.com/tidestaff/tidestaff/internal/peers/lagload"
)

func main() {
	lagload.Main()
	s := lagload.Default()
	out := flag.String("out", "", "write to this `file`; empty means bench/<date>-lag.txt of the repository, - means nowhere")
	look := flag.Duration("look", 2*time.Second, "measure the cost for this `time` at each of 90 looks; 0 means not at all")
	flag.DurationVar(&s.For, "for", s.For, "measure each load for this `time`")
	flag.DurationVar(&s.Period, "period", s.Period, "the `distance` of two slots, ticks and messages")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, s, *look, *out); err != nil {
		fmt.Fprintln(os.Stderr, "lagload:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, s lagload.Study, look time.Duration, out string) error {
	before := conditions.Load()
	var text bytes.Buffer
	var costs []lagload.Cost
	if look > 0 { // first, while the heap is small
		var err error
		if costs, err = lagload.Costs(ctx, look); err != nil {
			return err
		}
	}
	runs, err := s.Run(ctx)
	if err != nil {
		return err
	}
	madeBy := fmt.Sprintf("go run ./internal/peers/cmd/lagload -for %v -period %v -look %v", s.For, s.Period, look)
	if err := conditions.Write(&text, madeBy, before); err != nil {
		return err
	}
	text.WriteString("\n")
	failed, err := lagload.WriteRuns(&text, runs, lagload.Promised)
	if err != nil {
		return err
	}
	if costs != nil {
		text.WriteString("\n")
		if err := lagload.WriteCosts(&text, costs); err != nil {
			return err
		}
	}
	if err := conditions.Save(ctx, out, "lag", text.Bytes()); err != nil {
		return err
	}
	if _, err := os.Stdout.Write(text.Bytes()); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%d limits were not kept", failed)
	}
	return nil
}
