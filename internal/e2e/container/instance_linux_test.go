package container

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"testing"
	"time"
)

// An instance is a container that runs.
type instance struct {
	daemon *daemon
	id     string
}

// settings are those of a container.
type settings struct {
	memory    int64   // `docker run -m`, in bytes; swap is in it
	cpus      float64 // `docker run --cpus`
	namespace string  // `docker run --cgroupns`: "host" or "private"
	share     string  // a folder that has the same path inside
	env       []string
}

// start starts a container of the image and removes it at the end of the test.
func (d *daemon) start(t *testing.T, image string, s settings) *instance {
	t.Helper()
	var created struct{ ID string }
	d.must(t, "POST", "/containers/create", map[string]any{
		"Image": image,
		"Cmd":   []string{program},
		"Env":   s.env,
		"HostConfig": map[string]any{
			"Memory": s.memory, "MemorySwap": s.memory, "NanoCpus": int64(s.cpus * 1e9),
			"CgroupnsMode": s.namespace, "NetworkMode": "none", "Binds": []string{s.share + ":" + s.share},
		},
	}, &created)
	c := &instance{daemon: d, id: created.ID}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the container said:\n%s", c.output())
		}
		// The test's own context has ended.
		if err := d.call(context.Background(), "DELETE", "/containers/"+c.id+"?force=1", nil, nil); err != nil {
			t.Error(err)
		}
	})
	d.must(t, "POST", "/containers/"+c.id+"/start", nil, nil)
	return c
}

// output is what the container printed, with the eight bytes before each piece
// by which the API tells standard error from standard output.
func (c *instance) output() []byte {
	resp, err := c.daemon.client.Get("http://docker" + apiVersion + "/containers/" + c.id + "/logs?stdout=1&stderr=1")
	if err != nil {
		return []byte(err.Error())
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return []byte(err.Error())
	}
	return b
}

// pid is the container's first process, as the machine sees it.
func (c *instance) pid(t *testing.T) int {
	t.Helper()
	var inspected struct{ State struct{ Pid int } }
	c.daemon.must(t, "GET", "/containers/"+c.id+"/json", nil, &inspected)
	if inspected.State.Pid == 0 {
		t.Fatal("the container has no process")
	}
	return inspected.State.Pid
}

// stats is a part of what the daemon itself says of a container: the numbers
// behind `docker stats`.
type stats struct {
	Memory struct {
		Usage    float64 `json:"usage"`
		MaxUsage float64 `json:"max_usage"` // version 1 only, as is failcnt
		Limit    float64 `json:"limit"`
		Failcnt  float64 `json:"failcnt"`
	} `json:"memory_stats"`
	CPU struct {
		Usage struct {
			Total float64 `json:"total_usage"` // nanoseconds
		} `json:"cpu_usage"`
		Throttling struct {
			Periods   float64 `json:"periods"`
			Throttled float64 `json:"throttled_periods"`
			Time      float64 `json:"throttled_time"` // nanoseconds
		} `json:"throttling_data"`
	} `json:"cpu_stats"`
	Pids struct {
		Current float64 `json:"current"`
	} `json:"pids_stats"`
}

func (c *instance) stats(t *testing.T) stats {
	t.Helper()
	var s stats
	c.daemon.must(t, "GET", "/containers/"+c.id+"/stats?stream=false&one-shot=true", nil, &s)
	return s
}

// awaitOutOfMemory waits until the daemon has an event of the container's having
// run out of memory. The kernel tells its containerd of it, and that the daemon,
// which on a busy machine takes a while.
func (c *instance) awaitOutOfMemory(t *testing.T) {
	t.Helper()
	for limit := time.Now().Add(time.Minute); c.outOfMemory(t) == 0; {
		if time.Now().After(limit) {
			t.Error("the daemon has no event of it")
			return
		}
	}
}

// outOfMemory counts the daemon's events of a container that ran out of memory, up
// to a second from now.
func (c *instance) outOfMemory(t *testing.T) int {
	t.Helper()
	now := time.Now()
	filters := url.QueryEscape(`{"container":["` + c.id + `"],"event":["oom"]}`)
	path := fmt.Sprintf("/events?since=%d&until=%d&filters=%s", now.Add(-time.Hour).Unix(), now.Unix()+1, filters)
	req, err := http.NewRequestWithContext(t.Context(), "GET", "http://docker"+apiVersion+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.daemon.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	n := 0
	for events := json.NewDecoder(resp.Body); ; n++ {
		var event json.RawMessage
		if err := events.Decode(&event); err == io.EOF {
			return n
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
