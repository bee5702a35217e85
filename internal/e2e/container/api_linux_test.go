package container

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"testing"
	"time"
)

// apiVersion is the first one that lets a container choose its cgroup namespace
// (Docker 20.10).
const apiVersion = "/v1.41"

// call asks the daemon. A reader is sent as it is, another body as JSON; the
// answer is JSON too, if result is not nil.
func (d *daemon) call(ctx context.Context, method, path string, body, result any) (err error) {
	reader, raw := body.(io.Reader)
	if !raw && body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		reader = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://docker"+apiVersion+path, reader)
	if err != nil {
		return err
	}
	if body != nil && !raw {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := d.client.Do(req)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	text, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return err
	case resp.StatusCode >= 300:
		return fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, bytes.TrimSpace(text))
	case result == nil:
		return nil
	}
	return json.Unmarshal(text, result)
}

// must is call for answers without which the test cannot go on.
func (d *daemon) must(t *testing.T, method, path string, body, result any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := d.call(ctx, method, path, body, result); err != nil {
		t.Fatal(err)
	}
}

// importImage makes an image of a file system, and nothing below it, as
// `FROM scratch` does.
func (d *daemon) importImage(t *testing.T, name string, tar io.Reader) {
	t.Helper()
	var progress json.RawMessage
	d.must(t, "POST", "/images/create?fromSrc=-&repo="+url.QueryEscape(name), tar, &progress)
}
