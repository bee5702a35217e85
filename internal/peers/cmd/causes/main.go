// Command causes stalls processes in every way that package inject knows, by
// different lengths, and writes what package lag says was the cause to
// bench/<date>-causes.txt: a confusion matrix, and every injection with the
// sentence of its stall.
//
//	go run ./internal/peers/cmd/causes
//	go run ./internal/peers/cmd/causes -n 3 -family host -out -
//
// It fails, after writing, if of any family less than 95 % of the stalls have the right
// first cause, and in a loop the operation that holds it in flight.
//
// It takes under five minutes. Every family that the machine lets happen is there;
// of the others it says why not. The quota wants root. It wants a quiet machine:
// on a busy one other processes are a cause of many stalls, and lag says so.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"time"

	"github.com/tidestaff/tidestaff/internal/inject"
	"github.com/tidestaff/tidestaff/internal/peers/conditions"
	"github.com/tidestaff/tidestaff/lag"
	"github.com/tidestaff/tidestaff/probe"
)

// The lengths of the injected stalls lie between these.
const (
	shortest = 150 * time.Millisecond
	longest  = 600 * time.Millisecond
)

type flags struct {
	n           int
	family, out string
}

func main() {
	if inject.Child() {
		if err := inject.Serve(measure); err != nil {
			fmt.Fprintln(os.Stderr, "causes: child:", err)
			os.Exit(1)
		}
		return
	}
	var f flags
	flag.IntVar(&f.n, "n", 20, "inject each family this many `times`")
	flag.StringVar(&f.family, "family", "", "inject this `family` only")
	flag.StringVar(&f.out, "out", "", "write to this `file`; empty means bench/<date>-causes.txt of the repository, - means nowhere")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, f); err != nil {
		fmt.Fprintln(os.Stderr, "causes:", err)
		os.Exit(1)
	}
}

// measure is what a child measures: its stalls, on a schedule of 10 ms.
// Who holds a loop is an operation.
func measure(through func(beat func())) inject.Meter {
	ops := new(probe.Ops)
	p := lag.New(lag.Options{Interval: 10 * time.Millisecond, Threshold: 50 * time.Millisecond, Through: through})
	w, err := probe.NewSet(p, ops).Watch()
	if err != nil {
		panic(err) // the options are right
	}
	return inject.Meter{
		Begin: func(name string) (end func()) {
			_, op := ops.Begin(probe.WithRole(context.Background(), "background"), name)
			return func() { op.End(nil) }
		},
		End: func() any { return lag.StallsOf(w.Close()) },
	}
}

func run(ctx context.Context, f flags) error {
	before := conditions.Load()
	s, err := study(ctx, f)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := conditions.Write(&text, fmt.Sprintf("go run ./internal/peers/cmd/causes -n %d", f.n), before); err != nil {
		return err
	}
	s.write(&text)
	if err := conditions.Save(ctx, f.out, "causes", text.Bytes()); err != nil {
		return err
	}
	s.matrix(os.Stdout)
	return s.judge()
}

// study injects all families in turn, pass by pass, so that a busy half minute of
// the machine falls on all of them alike.
func study(ctx context.Context, f flags) (results, error) {
	self, err := os.Executable()
	if err != nil {
		return results{}, err
	}
	s := results{lacks: map[string]string{}}
	for i := range f.n {
		for _, family := range inject.Families() {
			if f.family != "" && f.family != family.Name || s.lacks[family.Name] != "" {
				continue
			}
			d := shortest
			if f.n > 1 {
				d += (longest - shortest) * time.Duration(i) / time.Duration(f.n-1)
			}
			var stalls []lag.Stall
			span, err := inject.Span{}, inject.ErrMissed
			for tries := 0; tries < 5 && errors.Is(err, inject.ErrMissed); tries++ {
				span, err = family.Run(exec.CommandContext(ctx, self), d, &stalls)
			}
			switch {
			case ctx.Err() != nil:
				return s, ctx.Err()
			case errors.Is(err, errors.ErrUnsupported):
				s.lacks[family.Name] = err.Error()
				continue
			case err != nil:
				return s, err
			}
			o := outcome{family.Name, family.Cause, family.Holder, d, injected(stalls, span, d)}
			s.outcomes = append(s.outcomes, o)
			o.write(os.Stderr)
		}
	}
	return s, nil
}

// injected is the stall that the injection made: the one that overlaps it most. If
// that is for less than half of the length that was asked for, the injection did
// not stall the process, and there is none.
func injected(stalls []lag.Stall, span inject.Span, d time.Duration) (made lag.Stall) {
	most := d / 2
	for _, s := range stalls {
		if o := span.Overlap(s.Start, s.Start.Add(s.Duration)); o >= most {
			made, most = s, o
		}
	}
	return made
}
