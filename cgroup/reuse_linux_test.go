package cgroup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/tidestaff/tidestaff/probe"
)

// TestRealReused: on the real kernel, a number that another process has got since
// never shows that one's memory. A namespace of process numbers of its own lets
// the next number be chosen.
func TestRealReused(t *testing.T) {
	cmd := helper(t.Context(), "reuse")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) {
		t.Skipf("needs to make a namespace: %v", err)
	}
	if strings.HasPrefix(string(out), "skip: ") {
		t.Skip(strings.TrimSpace(string(out)))
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got, want := strings.TrimSpace(string(out)), "64 MiB seen true, then 0 series, the process has ended, then 0 series, another process"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// reuseHelper plays it in a place of its own.
func reuseHelper([]string) error {
	if err := errors.Join(
		syscall.Mount("none", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""),
		syscall.Mount("proc", "/proc", "proc", 0, ""),
	); err != nil {
		fmt.Println("skip: needs to mount /proc:", err)
		return nil
	}
	err := reuse()
	for tries := 0; tries < 10 && errors.Is(err, errNotGiven); tries++ {
		err = reuse() // with another number
	}
	return err
}

// reuse measures a child, lets another child have its number, and says what the
// open window and the next one had.
func reuse() error {
	first, end, err := holding("64")
	if err != nil {
		return err
	}
	p := New(Options{PID: first, Interval: -1})
	w, err := p.Watch()
	if err != nil {
		return err
	}
	defer w.Close()
	var r probe.Reading
	w.Read(&r)
	s, _ := StatsOf(&r)
	seen := s.RSS.Usage.V > 64*mib
	end()
	if err := take(first); errors.Is(err, errNotGiven) {
		return err
	} else if err != nil {
		fmt.Println("skip:", err)
		return nil
	}
	w.Read(&r)
	n, why := left(&r)
	w.Close()
	next, err := p.Watch()
	if err != nil {
		return err
	}
	m, reused := left(next.Close())
	fmt.Printf("64 MiB seen %t, then %d series, %s, then %d series, %s\n", seen, n, why, m, reused)
	return nil
}

// errNotGiven says that something else has the number for good: a thread of this
// process, which the runtime has started just then.
var errNotGiven = errors.New("the number was not given again")

// take starts processes until one has the number.
func take(pid int) error {
	for range 10 {
		if err := os.WriteFile("/proc/sys/kernel/ns_last_pid", []byte(strconv.Itoa(pid-1)), 0o644); err != nil {
			return err
		}
		got, end, err := holding("8")
		if err != nil || got == pid {
			return err // and goes on holding until this process ends
		}
		end()
	}
	return errNotGiven
}

// holding starts the helper that holds memory.
func holding(size string) (pid int, end func(), err error) {
	cmd := helper(context.Background(), "hold", size)
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		return 0, nil, err
	}
	_, err = out.Read(make([]byte, 64)) // it holds
	return cmd.Process.Pid, func() {
		in.Close()
		cmd.Wait()
	}, err
}

// left counts the series of a process's memory and CPU time, and says in short
// why there are none.
func left(r *probe.Reading) (n int, why string) {
	for _, d := range []*probe.Desc{descRSS, descPeak, descStat, descCPU, descCourse} {
		for range r.Find(d.Name) {
			n++
		}
	}
	for _, known := range []string{"another process", "the process has ended"} {
		if strings.Contains(absent(r, descRSS.Name), known) {
			return n, known
		}
	}
	return n, absent(r, descRSS.Name)
}
