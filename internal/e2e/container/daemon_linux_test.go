package container

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// A daemon is a Docker daemon of the test's own. It shares nothing with one that
// the machine may have: it has its own folder, socket and cgroups, makes no
// bridge and no firewall rules.
type daemon struct {
	dir    string
	parent string // of its containers' cgroups, in each hierarchy
	client *http.Client
	cmd    *exec.Cmd
	log    bytes.Buffer
	done   chan struct{} // closed when the process has ended, with err
	err    error
}

// startDaemon starts a daemon and stops it at the end of the test, or skips the
// test where there can be none.
func startDaemon(t *testing.T) *daemon {
	t.Helper()
	program, err := exec.LookPath("dockerd")
	if err != nil {
		t.Skip("needs a Docker daemon: apt-get install docker.io")
	}
	if os.Geteuid() != 0 {
		t.Skip("needs root, to start a Docker daemon")
	}
	// Not t.TempDir: a socket's path has room for about a hundred characters.
	dir, err := os.MkdirTemp("", "tidestaff-docker-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := patiently(os.RemoveAll, dir); err != nil {
			t.Error(err)
		}
	})
	d := &daemon{dir: dir, parent: "/tidestaff-e2e-" + strconv.Itoa(os.Getpid()), done: make(chan struct{})}
	socket := filepath.Join(dir, "docker.sock")
	d.client = &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
	}}
	// Neither the machine's settings nor, where it has a containerd, that one's
	// containers.
	config := filepath.Join(dir, "daemon.json")
	if err := os.WriteFile(config, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.cmd = exec.Command(program,
		"--config-file", config,
		"--containerd-namespace", d.parent[1:], "--containerd-plugins-namespace", d.parent[1:]+"-plugins",
		"--data-root", filepath.Join(dir, "data"), "--exec-root", filepath.Join(dir, "exec"),
		"--pidfile", filepath.Join(dir, "pid"), "--host", "unix://"+socket, "--cgroup-parent", d.parent,
		"--iptables=false", "--ip6tables=false", "--bridge=none", "--log-level=warn")
	d.run(t)
	return d
}

// run starts the process and waits until it answers.
func (d *daemon) run(t *testing.T) {
	t.Helper()
	d.cmd.Stdout, d.cmd.Stderr = &d.log, &d.log
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	started := make(chan error)
	go func() {
		// The kernel stops the daemon when the thread that started it ends, so
		// that it does not outlive a test that is killed; the thread is this
		// goroutine's until then.
		runtime.LockOSThread()
		err := d.cmd.Start()
		started <- err
		if err == nil {
			d.err = d.cmd.Wait()
		}
		close(d.done)
	}()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.stop(t) })
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	for d.call(ctx, "GET", "/_ping", nil, nil) != nil {
		select {
		case <-d.done:
			t.Fatalf("dockerd ended at once: %v\n%s", d.err, d.log.Bytes())
		case <-ctx.Done():
			d.stop(t)
			t.Fatalf("dockerd does not answer:\n%s", d.log.Bytes())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// stop ends the daemon, which ends its containerd, and removes what they leave
// among the cgroups.
func (d *daemon) stop(t *testing.T) {
	_ = d.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-d.done:
	case <-time.After(2 * time.Minute):
		t.Errorf("dockerd does not end; killed")
		_ = d.cmd.Process.Kill()
		<-d.done
	}
	if t.Failed() {
		t.Logf("dockerd said:\n%s", d.log.Bytes())
	}
	dirs, err := filepath.Glob("/sys/fs/cgroup/*" + d.parent)
	if err != nil {
		t.Error(err)
	}
	for _, dir := range dirs {
		// Some names are links to the hierarchies of several controllers.
		if err := patiently(os.Remove, dir); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Error(fmt.Errorf("left behind: %w", err))
		}
	}
}

// patiently removes what may be in use for a moment longer: by processes of the
// daemon's that are about to end, and by the groups of containers that they remove.
func patiently(remove func(string) error, name string) error {
	for limit := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		err := remove(name)
		if err == nil || errors.Is(err, os.ErrNotExist) || time.Now().After(limit) {
			return err
		}
	}
}
