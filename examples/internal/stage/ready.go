package stage

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// readyEvery is the time between two looks at a readiness URL.
const readyEvery = 50 * time.Millisecond

// Listen returns a listener on a free port of the loopback interface.
func Listen() (net.Listener, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("stage: %w", err)
	}
	return l, nil
}

// maxSocketPath is what every Unix has room for in an address.
const maxSocketPath = 103

// ListenIn returns a listener on a Unix socket in a folder, or as Listen does
// where there are none or the folder's path is too long for one. Closing it
// removes the socket.
func ListenIn(dir string) (net.Listener, error) {
	path := filepath.Join(dir, "socket")
	if runtime.GOOS == "windows" || len(path) > maxSocketPath {
		return Listen()
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("stage: %w", err)
	}
	return l, nil
}

// awaitReady polls the child's readiness URL until it answers 200, the child
// ends or ctx does. The error of a timeout tells the last answer.
func (p *Process) awaitReady(ctx context.Context) error {
	url := p.spec.Ready
	if strings.HasPrefix(url, "/") {
		url = p.URL(url)
	}
	client := &http.Client{Transport: &http.Transport{Proxy: nil, DisableKeepAlives: true}, Timeout: time.Second}
	tick := time.NewTicker(readyEvery)
	defer tick.Stop()
	var last error
	for {
		err := look(ctx, client, url)
		if err == nil {
			return nil
		}
		if last == nil || ctx.Err() == nil { // one that ctx interrupted is no answer
			last = err
		}
		select {
		case <-tick.C:
		case <-p.exited:
			return p.ended("before it was ready")
		case <-ctx.Done():
			return fmt.Errorf("not ready: %w (last answer: %v)", context.Cause(ctx), last)
		}
	}
}

// look asks once, and is nil for status 200.
func look(ctx context.Context, client *http.Client, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, resp.Status)
	}
	return nil
}
