package inject

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// childEnv tells a child what will be done to it: a family's name and a length.
const childEnv = "TIDESTAFF_INJECT"

// missed is what a child prints instead of a report.
const missed = "missed"

// A Span is when an injection was, by the wall clock, which the parent and the
// child share.
type Span struct{ From, To time.Time }

// Overlap is how much of the span lies between two times.
func (s Span) Overlap(from, to time.Time) time.Duration {
	if from.Before(s.From) {
		from = s.From
	}
	if to.After(s.To) {
		to = s.To
	}
	return max(to.Sub(from), 0)
}

// A report is what a child prints.
type report struct {
	Span   Span // of what the child did itself
	Result json.RawMessage
}

// Child reports whether this process is a child, which has to call [Serve].
func Child() bool { return os.Getenv(childEnv) != "" }

// A Meter is what measures a child.
type Meter struct {
	// Begin begins an operation of the child's and returns what ends it. It is called
	// for the holder of a loop; see [Family.Holder].
	Begin func(name string) (end func())
	// End ends the measurement and returns its result.
	End func() any
}

// Serve is what a child does. open begins to measure, through a loop if it is
// given one; the result is printed as JSON.
func Serve(open func(through func(beat func())) Meter) error {
	name, length, _ := strings.Cut(os.Getenv(childEnv), ":")
	f, err := find(name)
	if err != nil {
		return err
	}
	d, err := time.ParseDuration(length)
	if err != nil {
		return err
	}
	if f.enter != nil {
		if err := f.enter(); err != nil {
			return err
		}
	}
	stall := func(time.Duration) {}
	var through func(beat func())
	switch {
	case f.loop != nil:
		through, stall = f.loop()
	case f.inside != nil:
		stall = f.inside()
	}
	meter := open(through)
	time.Sleep(100 * time.Millisecond) // what was normal
	fmt.Println("ready")
	r := report{Span: Span{From: time.Now()}}
	done := func() {}
	if f.Holder != "" {
		done = meter.Begin(f.Holder)
	}
	stall(d)
	done()
	r.Span.To = time.Now()
	bufio.NewScanner(os.Stdin).Scan()
	if f.check != nil && !f.check(d) {
		meter.End()
		fmt.Println(missed)
		return nil
	}
	if r.Result, err = json.Marshal(meter.End()); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}

func find(name string) (Family, error) {
	for _, f := range Families() {
		if f.Name == name {
			return f, nil
		}
	}
	return Family{}, fmt.Errorf("no family of stalls is called %q", name)
}

// Run starts the child, which calls Serve and otherwise prints nothing, stalls
// it for about d, decodes what it measured into result, and says when the
// injection was. The error wraps errors.ErrUnsupported where this machine does
// not let the family happen, and ErrMissed if it did not happen this time.
func (f Family) Run(child *exec.Cmd, d time.Duration, result any) (Span, error) {
	child.Env = append(child.Environ(), childEnv+"="+f.Name+":"+d.String(), fmt.Sprint("GOMAXPROCS=", procs))
	child.Stderr = os.Stderr
	var stall func(pid int, d time.Duration) error
	if f.outside != nil {
		var clean func()
		var err error
		if stall, clean, err = f.outside(child); err != nil {
			return Span{}, err
		}
		defer clean()
	}
	in, err := child.StdinPipe()
	if err != nil {
		return Span{}, err
	}
	pipe, err := child.StdoutPipe()
	if err != nil {
		return Span{}, err
	}
	if err := child.Start(); err != nil {
		return Span{}, err
	}
	defer func() {
		_ = child.Process.Kill() // if it is still there
		_ = child.Wait()
	}()
	out := bufio.NewScanner(pipe)
	out.Buffer(nil, 16<<20)
	for out.Scan() && out.Text() != "ready" {
	}
	var span Span
	if stall != nil {
		span.From = time.Now()
		if err := stall(child.Process.Pid, d); err != nil {
			return Span{}, err
		}
		span.To = time.Now()
		time.Sleep(d) // its life after
	}
	if _, err := in.Write([]byte("end\n")); err != nil {
		return Span{}, err
	}
	r, err := f.receive(out)
	if err == nil {
		err = json.Unmarshal(r.Result, result)
	}
	if stall == nil {
		span = r.Span
	}
	return span, err
}

// receive reads the child's report.
func (f Family) receive(out *bufio.Scanner) (report, error) {
	var r report
	if !out.Scan() {
		return r, fmt.Errorf("%s: the child ended without a result: %v", f.Name, out.Err())
	}
	if out.Text() == missed {
		return r, fmt.Errorf("%s: %w", f.Name, ErrMissed)
	}
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		return r, fmt.Errorf("%s: the child printed %q: %w", f.Name, out.Text(), err)
	}
	return r, nil
}
