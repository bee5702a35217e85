package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// hogs is how many processes compute beside some of the cases.
const hogs = 2

// hogVar marks the process as one that does nothing but compute.
const hogVar = "TIDESTAFF_SCALING_HOG"

// hogging reports whether this process is a hog. If so, it has computed until its
// standard input was closed, by the parent or by its end.
func hogging() bool {
	if os.Getenv(hogVar) == "" {
		return false
	}
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(ended)
	}()
	for {
		select {
		case <-ended:
			return true
		default:
			for range 100_000 {
				sink = sink*6364136223846793005 + 1
			}
		}
	}
}

// hog starts n processes that compute, until end is called.
func hog(ctx context.Context, n int) (end func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var stops []func() error
	end = func() {
		for _, stop := range stops {
			_ = stop() // how a hog ended says nothing
		}
	}
	for range n {
		child := exec.CommandContext(ctx, self)
		child.Env = append(os.Environ(), hogVar+"=1", "GOMAXPROCS=1")
		in, err := child.StdinPipe()
		if err == nil {
			err = child.Start()
		}
		if err != nil {
			end()
			return nil, fmt.Errorf("a process that computes: %w", err)
		}
		stops = append(stops, func() error { return errors.Join(in.Close(), child.Wait()) })
	}
	return end, nil
}
