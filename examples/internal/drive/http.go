package drive

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"
)

// Body reads a response's body to its end and closes it. A status other than
// 2xx is wrong content; a body that ends before its length, or breaks off, is
// an early end.
func Body(resp *http.Response) ([]byte, error) {
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return data, bodyError(resp, data, err)
}

// GetJSON decodes what a URL answers into out. What does not decode is wrong
// content.
func GetJSON(ctx context.Context, c *http.Client, target string, out any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return err
	}
	resp, err := c.Do(req)
	if err != nil {
		return err
	}
	data, err := Body(resp)
	if err != nil {
		return err
	}
	return Wrong(json.Unmarshal(data, out))
}

// Drain is Body for what is too large to keep: it returns how many bytes came.
func Drain(resp *http.Response) (int64, error) {
	defer resp.Body.Close()
	n, err := io.Copy(io.Discard, resp.Body)
	return n, bodyError(resp, nil, err)
}

func bodyError(resp *http.Response, data []byte, err error) error {
	if err != nil {
		return fmt.Errorf("read body of %s: %w", resp.Request.URL, earlyEndError{err})
	}
	if resp.StatusCode/100 != 2 {
		return Wrong(fmt.Errorf("%s %s: %s: %.100q", resp.Request.Method, resp.Request.URL, resp.Status, data))
	}
	return nil
}

// Loopback refuses a target that is not on this machine: a URL or "host:port"
// whose host is neither a loopback address nor localhost. The load of the
// examples is meant for the servers that they start.
func Loopback(target string) error {
	host := target
	if u, err := url.Parse(target); err == nil && u.Host != "" {
		host = u.Host
	}
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if strings.EqualFold(host, "localhost") {
		return nil // what it resolves to is looked at when Client connects
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	if err != nil || !addr.Unmap().IsLoopback() {
		return fmt.Errorf("drive: target %q is not on this machine's loopback interface", target)
	}
	return nil
}

// Client returns an HTTP client for one user or for all, which connects to
// loopback addresses only, wherever names and redirects lead. It uses no
// proxy and keeps up to idle connections. Close its idle connections at the
// end.
func Client(idle int) *http.Client {
	dialer := &net.Dialer{Timeout: 30 * time.Second, ControlContext: onlyLoopback}
	return &http.Client{Transport: &http.Transport{
		DialContext:         dialer.DialContext,
		MaxIdleConns:        idle,
		MaxIdleConnsPerHost: idle,
		DisableCompression:  true, // compressing would be measured as the server's work
	}}
}

// onlyLoopback sees the address after names were resolved.
func onlyLoopback(_ context.Context, network, address string, _ syscall.RawConn) error {
	if strings.HasPrefix(network, "unix") {
		return nil
	}
	return Loopback(address)
}
