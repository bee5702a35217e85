package otelexport

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel"
	sdk "go.opentelemetry.io/otel/sdk/metric"

	"github.com/tidestaff/tidestaff/probe"
)

// TestRegister: each kind is its instrument, in the description's unit; details stay
// here, distributions are the producer's, and what is absent is absent.
func TestRegister(t *testing.T) {
	c := newCore("")
	mp, reader := provider(t)
	c.Counter(descCalls).Add(3) // before it is registered
	register(t, c, Options{MeterProvider: mp})
	c.Counter(descCalls, probe.Attr{Key: "method", Value: "Get"}).Add(4)
	c.Counter(descTime).Add(int64(1500 * time.Millisecond))
	c.Counter(descOpen).Add(5)
	c.Counter(descOpen).Add(-3)
	c.Gauge(descLevel, probe.Attr{Key: "kind", Value: "unknown"})
	c.Gauge(descLevel).Set(7)
	c.Peak(descPeak).Sample(9)
	c.Counter(descPath).Add(1)
	c.Counter(descCalls, probe.Attr{Key: "method", Value: "a\xffb"}).Add(1)
	c.Recorder(descWait).Record(1)
	got := collect(t, reader)
	if m := got["test.time"]; m.Description != descTime.Help {
		t.Errorf("got description %q", m.Description)
	}
	want(t, got, map[string]string{
		"test.calls": "counter {call} {method=Get} 4\ncounter {call} {method=a\uFFFDb} 1\ncounter {call} {} 0",
		"test.time":  "counter s {} 1.5",
		"test.open":  "updown {call} {} 2",
		"test.level": "gauge By {} 7",
		"test.peak":  "gauge By {} 9",
	})
	c.Absent("test.level", "gone")
	if m, ok := collect(t, reader)["test.level"]; ok {
		t.Errorf("got %s of what is absent", text(m))
	}
}

// TestTwice: what would count twice, or could not be told apart, is refused.
func TestTwice(t *testing.T) {
	c, other := newCore(""), newCore("")
	a, b := newCore("a"), newCore("b")
	mp, reader := provider(t)
	first := register(t, c, Options{MeterProvider: mp})
	for name, p := range map[string]probe.Probe{"itself": c, "a set with it": probe.NewSet(a, c)} {
		if _, err := Register(p, Options{MeterProvider: mp}); err == nil || !strings.Contains(err.Error(), "*probe.Core is registered with this MeterProvider already") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := Register(other, Options{MeterProvider: mp}); err == nil || !strings.Contains(err.Error(), `under the name ""`) {
		t.Errorf("without a name: got %v", err)
	}
	if a.Watched() || other.Watched() {
		t.Error("what was refused is watched")
	}
	register(t, probe.NewSet(a), Options{MeterProvider: mp})
	register(t, b, Options{MeterProvider: mp})
	elsewhere, _ := provider(t)
	register(t, c, Options{MeterProvider: elsewhere})
	a.Counter(descCalls).Add(1)
	b.Counter(descCalls).Add(2)
	want(t, collect(t, reader), map[string]string{
		"test.calls": "counter {call} {tidestaff.probe.name=a} 1\ncounter {call} {tidestaff.probe.name=b} 2",
	})
	for range 2 {
		if err := first.Close(); err != nil {
			t.Error(err)
		}
	}
	register(t, c, Options{MeterProvider: mp})
}

// A social probe notes whom it has met.
type social struct {
	*probe.Core
	met int
}

func (s *social) Meet(peers []probe.Probe) { s.met += len(peers) }

// TestNobodyMeets: what is registered with one provider is no set.
func TestNobodyMeets(t *testing.T) {
	mp, _ := provider(t)
	a, b := &social{Core: newCore("a")}, &social{Core: newCore("b")}
	register(t, a, Options{MeterProvider: mp})
	register(t, b, Options{MeterProvider: mp})
	if a.met+b.met > 0 {
		t.Errorf("got %d and %d introductions", a.met, b.met)
	}
}

// TestTwiceAtOnce: of two that come at once, one is refused.
func TestTwiceAtOnce(t *testing.T) {
	for range 50 {
		c := newCore("")
		mp, _ := provider(t)
		var wg sync.WaitGroup
		var made [4]*Registration
		for i := range made {
			wg.Go(func() { made[i], _ = Register(c, Options{MeterProvider: mp}) })
		}
		wg.Wait()
		n := 0
		for _, r := range made {
			if r != nil {
				n++
				r.Close()
			}
		}
		if n != 1 || c.Watched() {
			t.Fatalf("got %d registrations, watched %t after their end, want 1", n, c.Watched())
		}
	}
}

const globalVar = "TIDESTAFF_TEST_GLOBAL"

// TestGlobal: the global provider may be set after the registration, which it then
// hands on; the same probe is not registered with it once more.
func TestGlobal(t *testing.T) {
	// It can be set once in a process, which is this one's helper.
	if os.Getenv(globalVar) == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestGlobal$")
		cmd.Env = append(os.Environ(), globalVar+"=1")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	c := newCore("")
	register(t, c, Options{})
	c.Counter(descCalls).Add(2)
	mp, reader := provider(t)
	otel.SetMeterProvider(mp)
	want(t, collect(t, reader), map[string]string{"test.calls": "counter {call} {} 2"})
	for name, o := range map[string]Options{"none": {}, "the one that was set": {MeterProvider: mp}} {
		if _, err := Register(c, o); err == nil {
			t.Errorf("%s: got a second registration", name)
		}
	}
	closed := newCore("never seen")
	if err := register(t, closed, Options{}).Close(); err != nil || closed.Watched() {
		t.Errorf("got %v, watched %t", err, closed.Watched())
	}
}

// TestCloseWhileCollecting: the end never waits for what waits for it, and leaves
// nothing.
func TestCloseWhileCollecting(t *testing.T) {
	first, second := sdk.NewManualReader(), sdk.NewManualReader()
	both := sdk.NewMeterProvider(sdk.WithReader(first), sdk.WithReader(second))
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for _, r := range []sdk.Reader{first, second} {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					collect(t, r)
				}
			}
		})
	}
	for range 40 {
		c := newCore("")
		c.Counter(descCalls).Add(1)
		c.Peak(descPeak).Sample(1)
		r := register(t, c, Options{MeterProvider: both, PeakOver: time.Microsecond})
		var closers sync.WaitGroup
		for range 2 {
			closers.Go(func() { r.Close() })
		}
		closers.Wait()
		if c.Watched() {
			t.Fatal("a window is left")
		}
	}
	close(stop)
	readers.Wait()
}

// TestTwoReaders: readers at different rates see the same totals and the same peaks,
// which look back on a minute at least.
func TestTwoReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore("")
		fast, slow := sdk.NewManualReader(), sdk.NewManualReader()
		mp := sdk.NewMeterProvider(sdk.WithReader(fast), sdk.WithReader(slow))
		defer mp.Shutdown(context.Background())
		defer register(t, c, Options{MeterProvider: mp}).Close()
		calls, peak := c.Counter(descCalls), c.Peak(descPeak)
		for i := range 30 { // 10 s each
			calls.Add(1)
			peak.Sample(1)
			if i%6 == 2 {
				peak.Sample(100 + int64(i)) // once a minute
			}
			time.Sleep(10 * time.Second)
			collect(t, fast)
			if i%6 != 5 {
				continue
			}
			f, s := collect(t, fast), collect(t, slow)
			for _, name := range []string{"test.calls", "test.peak"} {
				if text(f[name]) != text(s[name]) {
					t.Errorf("got %s and %s", text(f[name]), text(s[name]))
				}
			}
			if i == 29 {
				want(t, s, map[string]string{"test.calls": "counter {call} {} 30", "test.peak": "gauge By {} 126"})
			}
		}
		time.Sleep(time.Hour)
		peak.Sample(1)
		collect(t, slow) // what the last reading has not seen may still be high
		time.Sleep(time.Hour)
		peak.Sample(2)
		want(t, collect(t, slow), map[string]string{"test.calls": "counter {call} {} 30", "test.peak": "gauge By {} 2"})
	})
}

// TestOverflow: the series beyond the limit are one, which never steps back.
func TestOverflow(t *testing.T) {
	c := newCore("")
	mp, reader := provider(t)
	register(t, c, Options{MeterProvider: mp, Series: 2})
	add := func(method string, n int64) {
		a := probe.Attr{Key: "method", Value: method}
		c.Counter(descCalls, a).Add(n)
		c.Peak(descPeak, a).Sample(n)
	}
	for i, method := range []string{"A", "B", "C", "D"} {
		add(method, int64(i+1))
	}
	want(t, collect(t, reader), map[string]string{
		"test.calls": "counter {call} {method=A} 1\ncounter {call} {method=B} 2\ncounter {call} {otel.metric.overflow=true} 7",
		"test.peak":  text(collect(t, reader)["test.peak"]), // which two come first is chance
	})
	add("C", 10)
	got := collect(t, reader)
	if w := "counter {call} {method=A} 1\ncounter {call} {method=B} 2\ncounter {call} {otel.metric.overflow=true} 17"; text(got["test.calls"]) != w {
		t.Errorf("got\n%s\nwant\n%s", text(got["test.calls"]), w)
	}
	if n := strings.Count(text(got["test.peak"]), "\n"); n != 2 || !strings.Contains(text(got["test.peak"]), "overflow=true") {
		t.Errorf("got\n%s\nwant two series and the overflow", text(got["test.peak"]))
	}
}

// TestConventions: the names of the conventions, on request alone.
func TestConventions(t *testing.T) {
	c := &probe.Core{}
	mode := probe.Attr{Key: "cpu.mode", Value: "user"}
	c.Counter(&probe.Desc{Name: "tidestaff.process.cpu.time", Unit: "s", Help: "CPU time."}, mode)
	c.Gauge(&probe.Desc{Name: "tidestaff.cgroup.memory.usage", Unit: "By", Help: "Charge."}).Set(5)
	for _, tt := range []struct {
		conventions bool
		want        map[string]string
	}{
		{false, map[string]string{"tidestaff.process.cpu.time": "counter s {cpu.mode=user} 0", "tidestaff.cgroup.memory.usage": "gauge By {} 5"}},
		{true, map[string]string{"process.cpu.time": "counter s {cpu.mode=user} 0", "container.memory.usage": "updown By {} 5"}},
	} {
		mp, reader := provider(t)
		register(t, c, Options{MeterProvider: mp, Conventions: tt.conventions})
		want(t, collect(t, reader), tt.want)
	}
}
