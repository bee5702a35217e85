package container

import (
	"errors"
	"fmt"
	"net"
	"net/rpc"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/tidestaff/tidestaff/cgroup"
	"github.com/tidestaff/tidestaff/internal/proc"
	"github.com/tidestaff/tidestaff/probe"
)

// The variables that make this program one that runs in a container.
const (
	// envInside is the socket of the test, in a folder that both see.
	envInside = "TIDESTAFF_E2E_INSIDE"
	// envHog makes a child of it one that allocates so many bytes.
	envHog = "TIDESTAFF_E2E_HOG"
)

// Inside is what the test calls in the container. Between two calls the process
// waits for the next one and does nothing else, so that the numbers of the
// machine and of the daemon are read while the container is at rest.
type Inside struct {
	window *probe.Window
	held   []byte
}

// None is an argument or an answer with nothing in it.
type None struct{}

// inside is the container's first process. It does not return.
func inside(socket string) {
	conn, err := net.Dial("unix", socket)
	if err == nil {
		err = rpc.Register(new(Inside))
	}
	if err != nil {
		fmt.Println("inside:", err)
		os.Exit(1)
	}
	rpc.ServeConn(conn)
	os.Exit(0)
}

// A Number is one series of a reading.
type Number struct {
	Value  float64
	How    string
	Method string
}

// A Reading is a probe's reading in a form that can be sent. Numbers are by the
// metric's name, with "/" and the value of each attribute.
type Reading struct {
	Numbers map[string]Number
	Absent  map[string]string
}

// Watch opens a window.
func (i *Inside) Watch(None, *None) (err error) {
	i.window, err = cgroup.New(cgroup.Options{}).Watch()
	return err
}

// Read reads the window.
func (i *Inside) Read(_ None, reading *Reading) error {
	var r probe.Reading
	i.window.Read(&r)
	reading.Numbers, reading.Absent = map[string]Number{}, map[string]string{}
	for _, m := range r.Metrics {
		var key strings.Builder
		key.WriteString(m.Name)
		for _, a := range m.Attrs {
			key.WriteString("/" + a.Value)
		}
		reading.Numbers[key.String()] = Number{Value: m.Value, How: m.Prov.How.String(), Method: m.Prov.Method}
	}
	for _, a := range r.Absent {
		reading.Absent[a.Name] = a.Reason
	}
	return nil
}

// Group finds the process's group of a controller.
func (i *Inside) Group(controller string, group *proc.Group) error {
	groups, err := proc.Detect("/")
	if err == nil {
		*group, err = groups.LookupOwn(controller)
	}
	return err
}

// Hold makes n bytes resident, out of the Go runtime's sight, which would keep
// them when they are given back.
func (i *Inside) Hold(n int, _ *None) (err error) {
	i.held, err = syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	for at := 0; at < len(i.held); at += os.Getpagesize() {
		i.held[at] = 1
	}
	return err
}

// Release gives back what Hold took.
func (i *Inside) Release(None, *None) error { return syscall.Munmap(i.held) }

// Burn keeps two processors busy, as far as it gets them, until the quota has
// stopped it in n more periods.
func (i *Inside) Burn(n int, _ *None) error {
	stopped, err := throttled()
	if err != nil {
		return err
	}
	var done atomic.Bool
	var other sync.WaitGroup
	other.Go(func() {
		for !done.Load() {
		}
	})
	defer func() { done.Store(true); other.Wait() }()
	for begin := time.Now(); ; {
		now, err := throttled()
		if err != nil || now >= stopped+n {
			return err
		}
		if time.Since(begin) > time.Minute {
			return fmt.Errorf("throttled in %d periods in a minute, want %d", now-stopped, n)
		}
		for look := time.Now(); time.Since(look) < 5*time.Millisecond; {
		}
	}
}

// throttled is the kernel's count of periods in which the quota was used up.
func throttled() (int, error) {
	b, err := os.ReadFile("/sys/fs/cgroup/cpu/cpu.stat")
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(b), "nr_throttled ")
	text, _, _ := strings.Cut(rest, "\n")
	return strconv.Atoi(text)
}

// Starve starts a child that allocates n bytes, which is more than there is, and
// reports whether the kernel killed it.
func (i *Inside) Starve(n int, killed *bool) error {
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), envHog+"="+strconv.Itoa(n))
	err := cmd.Run()
	exit := new(exec.ExitError)
	if errors.As(err, &exit) {
		*killed = exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
		return nil
	}
	return err
}

// hog is a child that the kernel kills first if memory is short.
func hog(text string) {
	n, err := strconv.Atoi(text)
	if err == nil {
		err = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	}
	if err == nil {
		err = new(Inside).Hold(n, nil)
	}
	fmt.Println("hog:", err)
	os.Exit(1)
}
