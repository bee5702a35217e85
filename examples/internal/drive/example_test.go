package drive_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/tidestaff/tidestaff/examples/internal/drive"
)

// Two users list something at a steady rate while each plays one session; the
// run ends when both sessions are over.
func Example() {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "[]")
	}))
	defer srv.Close()
	if err := drive.Loopback(srv.URL); err != nil {
		fmt.Println(err)
		return
	}
	client := drive.Client(10)
	defer client.CloseIdleConnections()
	list := func(context.Context) error {
		resp, err := client.Get(srv.URL)
		if err != nil {
			return err
		}
		body, err := drive.Body(resp)
		if err == nil && string(body) != "[]" {
			err = drive.Wrong(errors.New("the list is not empty"))
		}
		return err
	}

	d := drive.New(drive.Options{Seed: 1, Cap: 20 * time.Second})
	for range 2 {
		d.Add(drive.User{
			Activities: []drive.Activity{
				{Name: "list", Every: 20 * time.Millisecond, Jitter: 0.1, Do: list},
				{Name: "create", Min: 5 * time.Millisecond, Max: 10 * time.Millisecond, Count: 12, Do: list},
			},
			Scripts: []drive.Script{{Work: 3, Do: func(ctx context.Context, s *drive.Session) error {
				for range 3 {
					if err := s.Do("turn", list); err != nil {
						return err
					}
					s.Done()
					if err := s.Sleep(10 * time.Millisecond); err != nil { // thinks
						return err
					}
				}
				return nil
			}}},
		})
	}
	w, err := d.Watch() // or report.Start(d), or in a Set with others
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := d.Run(context.Background())
	fmt.Println(out.End, out.Done, "of", out.Planned, err)

	for _, r := range drive.ResultsOf(w.Close()) {
		_, enough := r.Response.P95()
		if r.Operation == "create" || r.Operation == "turn" {
			fmt.Println(r.Operation, "n =", r.Response.N, "failed:", r.Failed(), "p95:", enough)
		}
	}
	// Output:
	// done 30 of 30 <nil>
	// create n = 24 failed: 0 p95: true
	// turn n = 6 failed: 0 p95: false
}
