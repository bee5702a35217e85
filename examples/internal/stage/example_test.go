package stage_test

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"github.com/tidestaff/tidestaff/examples/internal/stage"
)

// The main function of an example: the user's process starts the server as a
// child of the same binary, measures one phase and stops it.
func Example() {
	if stage.Role() == "api" {
		if err := stage.Child(api()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}

	ctx := context.Background()
	var s stage.Stage
	defer s.Stop()
	api, err := s.Start(ctx, stage.Spec{Role: "server", Ready: "/readyz"})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := s.Open(ctx, "load"); err != nil {
		fmt.Println(err)
		return
	}
	resp, err := http.Get(api.URL("/items")) // the load goes here
	if err != nil {
		fmt.Println(err)
		return
	}
	resp.Body.Close()
	reports, err := s.Close(ctx)
	for _, r := range reports {
		fmt.Printf("%s %s %s", r.Name, r.Phase, r.JSON)
	}
	fmt.Println(err, s.Stop())
	// Output:
	// server load {
	// 	"html": "<&>",  "phase": "load"}
	// <nil> <nil>
}

// api is what the child does: serve, and report between Open and Close.
func api() stage.Handler {
	srv := &http.Server{Handler: http.NotFoundHandler()}
	return stage.Handler{
		Start: func(context.Context) (string, error) {
			l, err := stage.Listen()
			if err != nil {
				return "", err
			}
			go srv.Serve(l)
			return l.Addr().String(), nil
		},
		Open:  func(string) error { return nil },
		Close: func() ([]byte, error) { return []byte(`{"requests": 1}`), nil },
		Stop:  srv.Close,
	}
}
