package cgroup_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"time"

	"github.com/tidestaff/tidestaff/cgroup"
	"github.com/tidestaff/tidestaff/probe"
)

// Five starts of a service, each until its /readyz says so.
func ExampleStartToReady() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	command := func() (*exec.Cmd, error) {
		return exec.Command("/usr/local/bin/replica", "-listen", "localhost:8080"), nil
	}
	check := func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, "GET", "http://localhost:8080/readyz", nil)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return errors.New(resp.Status)
		}
		return nil
	}
	times, err := cgroup.StartToReady(ctx, 5, command, check)
	fmt.Println(times, errors.Is(err, os.ErrNotExist)) // there is no such service here
	// Output: no start true
}

func ExampleReadyTimes() {
	at := func(took time.Duration) cgroup.ReadyTime {
		return cgroup.ReadyTime{Took: took, Prov: probe.Provenance{How: probe.AtMost, Method: "polled", Samples: 20, MaxGap: 52 * time.Millisecond}}
	}
	fmt.Println(cgroup.ReadyTimes{at(1610 * time.Millisecond), at(940 * time.Millisecond), at(850 * time.Millisecond)})
	// Output:
	// 1.610, 0.940, 0.850 s, each at most 52ms too long; from before fork and exec, through the runtime's and the service's own start, to the return of the first check that succeeded
}
