package proc

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func is(v uint64) Value { return Value{V: v, OK: true} }

// check runs a parser on one text and compares the result, or looks for the
// offending text in the error.
func check[T any](t *testing.T, parse func([]byte) (T, error), in string, want T, wantErr string) {
	t.Helper()
	got, err := parse([]byte(in))
	if wantErr != "" {
		if err == nil || !strings.Contains(err.Error(), wantErr) {
			t.Errorf("%q: got %+v, error %v, want an error with %s", clip([]byte(in)), got, err, wantErr)
		}
		return
	}
	if err != nil {
		t.Errorf("%q: got error %v", clip([]byte(in)), err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%q (-want +got):\n%s", clip([]byte(in)), diff)
	}
}

func TestParseUint(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want uint64
		err  string
	}{
		{"0\n", 0, ""},
		{"123", 123, ""},
		{" 9223372036854775808\n", 1 << 63, ""},
		{"18446744073709551615\n", math.MaxUint64, ""},
		{"18446744073709551616\n", 0, `"18446744073709551616"`},
		{"184467440737095516150\n", 0, "not an unsigned"},
		{"-1\n", 0, `"-1"`},
		{"1 2\n", 0, `"1 2"`},
		{"max\n", 0, `"max"`},
		{"", 0, `""`},
	} {
		check(t, ParseUint, tt.in, tt.want, tt.err)
	}
}

func TestParseInt(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want int64
		err  string
	}{
		{"-1\n", -1, ""},
		{"50000\n", 50000, ""},
		{"-9223372036854775808", math.MinInt64, ""},
		{"9223372036854775807", math.MaxInt64, ""},
		{"9223372036854775808", 0, "not a number"},
		{"-9223372036854775809", 0, "not a number"},
		{"--1", 0, `"--1"`},
		{"-", 0, `"-"`},
	} {
		check(t, ParseInt, tt.in, tt.want, tt.err)
	}
}

func TestParseLimit(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want Value
		err  string
	}{
		{"max\n", Value{}, ""},
		{"9223372036854771712\n", Value{}, ""}, // version 1, pages of 4 KiB
		{"9223372036854710272\n", Value{}, ""}, // version 1, pages of 64 KiB
		{"-1\n", Value{}, ""},
		{"0\n", is(0), ""},
		{"536870912\n", is(512 << 20), ""},
		{"maximum\n", Value{}, `"maximum"`},
		{"", Value{}, `""`},
	} {
		check(t, ParseLimit, tt.in, tt.want, tt.err)
	}
}

func TestParseFlat(t *testing.T) {
	keys := []string{"usage_usec", "nr_throttled", "user_usec"}
	parse := func(b []byte) ([3]Value, error) {
		dst := [3]Value{is(7), is(7), is(7)} // a reused buffer
		err := ParseFlat(b, keys, dst[:])
		return dst, err
	}
	for _, tt := range []struct {
		in   string
		want [3]Value
		err  string
	}{
		{"usage_usec 10\nuser_usec 4\nsystem_usec 6\n", [3]Value{is(10), {}, is(4)}, ""},
		{"new_key x y\nnr_throttled 0\nuser_usec 1", [3]Value{{}, is(0), is(1)}, ""},
		{"", [3]Value{}, ""},
		{"user_usec_more 1\nuser 2\n", [3]Value{}, ""},
		{"usage_usec -4\n", [3]Value{}, `"usage_usec -4"`},
		{"usage_usec\n", [3]Value{}, ""},
		{"usage_usec \n", [3]Value{}, `"usage_usec "`},
	} {
		check(t, parse, tt.in, tt.want, tt.err)
	}
}

func TestParseStatus(t *testing.T) {
	full := "Name:\tVmHWM: 1 kB\nUmask:\t0022\nVmPeak:\t 2928 kB\nVmHWM:\t    1772 kB\nVmRSS:\t    1700 kB\n" +
		"RssAnon:\t     112 kB\nRssFile:\t    1588 kB\nRssShmem:\t       0 kB\nVmSwap:\t       4 kB\nThreads:\t1\n"
	for _, tt := range []struct {
		in   string
		want Status
		err  string
	}{
		{full, Status{is(1772 << 10), is(1700 << 10), is(112 << 10), is(1588 << 10), is(0), is(4 << 10)}, ""},
		{"Name:\tkthreadd\nThreads:\t1\n", Status{}, ""},
		{"VmHWM:\t 12 kB\nVmRSS:\t 8 kB", Status{HWM: is(12 << 10), RSS: is(8 << 10)}, ""},
		{"VmRSS:\t8 MB\n", Status{}, "8 MB"},
		{"VmRSS:\t18446744073709551615 kB\n", Status{}, "not a number"},
	} {
		check(t, ParseStatus, tt.in, tt.want, tt.err)
	}
}

func TestParseStatm(t *testing.T) {
	parse := func(b []byte) (Statm, error) { return ParseStatm(b, 4096) }
	check(t, parse, "732 443 415 6 0 89 0\n", Statm{732 << 12, 443 << 12, 415 << 12}, "")
	check(t, parse, "0 0 0 0 0 0 0\n", Statm{}, "")
	check(t, parse, "732 443", Statm{}, `"732 443"`)
	check(t, parse, "18446744073709551615 0 0", Statm{}, "statm")
}

func TestParseIO(t *testing.T) {
	check(t, ParseIO, "rchar: 1948\nwchar: 2\nsyscr: 7\nsyscw: 0\nread_bytes: 4096\nwrite_bytes: 0\ncancelled_write_bytes: 0\n",
		IO{is(1948), is(2), is(7), is(0), is(4096), is(0)}, "")
	check(t, ParseIO, "rchar: 1\n", IO{ReadChars: is(1)}, "")
	check(t, ParseIO, "rchar: x\n", IO{}, `"rchar: x"`)
}

func TestParseStat(t *testing.T) {
	tail := " S 1 42 42 0 -1 4194560 1500 0 3 0 250 50 0 0 20 0 5 0 12345 3000000 443 18446744073709551615\n"
	want := Stat{State: 'S', MinorFaults: 1500, MajorFaults: 3, User: 2500 * time.Millisecond,
		System: 500 * time.Millisecond, Start: 123450 * time.Millisecond}
	check(t, ParseStat, "42 (server)"+tail, want, "")
	check(t, ParseStat, "42 (a) R (b c)"+tail, want, "") // a command may be called "a) R (b c"
	check(t, ParseStat, "42 server S 1", Stat{}, "no command")
	check(t, ParseStat, "42 (server) S 1 42", Stat{}, "field 6")
	check(t, ParseStat, "42 (server) SS 1 42", Stat{}, "field 3")
	check(t, ParseStat, strings.Replace("42 (server)"+tail, "12345", "-5", 1), Stat{}, "field 22")
}

func TestParseSchedstat(t *testing.T) {
	check(t, ParseSchedstat, "1000 2000 3\n", Sched{1000, 2000, 3}, "")
	check(t, ParseSchedstat, "1000 2000\n", Sched{}, "schedstat")
	check(t, ParseSchedstat, "18446744073709551615 2000 3\n", Sched{}, "out of range")
}

func TestParseCPUMax(t *testing.T) {
	check(t, ParseCPUMax, "max 100000\n", CPUMax{Period: 100 * time.Millisecond}, "")
	check(t, ParseCPUMax, "150000 100000\n", CPUMax{150 * time.Millisecond, 100 * time.Millisecond, true}, "")
	check(t, ParseCPUMax, "max\n", CPUMax{}, `"max\n"`)
	check(t, ParseCPUMax, "max 0\n", CPUMax{}, "")
	check(t, ParseCPUMax, "-1 100000\n", CPUMax{}, "-1")
	check(t, ParseCPUMax, "1 2 3\n", CPUMax{}, "cpu.max")
	if got, want := (CPUMax{150 * time.Millisecond, 100 * time.Millisecond, true}).CPUs(), 1.5; got != want {
		t.Errorf("got %v CPUs, want %v", got, want)
	}
	if got := (CPUMax{Period: time.Second}).CPUs(); got != 0 {
		t.Errorf("got %v CPUs without a quota, want 0", got)
	}
}

func TestParsePressure(t *testing.T) {
	two := "some avg10=0.00 avg60=1.20 avg300=0.63 total=2301\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=17\n"
	check(t, ParsePressure, two, Pressure{Stall{is(2301)}, Stall{is(17)}}, "")
	check(t, ParsePressure, "some avg10=0.00 total=0", Pressure{Some: Stall{is(0)}}, "")
	check(t, ParsePressure, "", Pressure{}, "")
	check(t, ParsePressure, "some avg10=0.00\n", Pressure{}, "no total")
	check(t, ParsePressure, "full total=x\n", Pressure{}, "no total")
}

func TestParseHostCPU(t *testing.T) {
	check(t, ParseHostCPU, "cpu  100 1 50 1000 5 2 3 7 20 0\ncpu0 1 2 3\n",
		HostCPU{time.Second, 10 * time.Millisecond, 500 * time.Millisecond, 10 * time.Second,
			50 * time.Millisecond, 20 * time.Millisecond, 30 * time.Millisecond, 70 * time.Millisecond}, "")
	check(t, ParseHostCPU, "cpu0 1 2 3 4 5 6 7 8\n", HostCPU{}, "no cpu line")
	check(t, ParseHostCPU, "cpu  1 2 3\n", HostCPU{}, "eight")
	c := HostCPU{User: 1, Nice: 2, System: 4, Idle: 8, IOWait: 16, IRQ: 32, SoftIRQ: 64, Steal: 128}
	if got, want := c.Busy(), time.Duration(1+2+4+32+64); got != want {
		t.Errorf("got busy %d, want %d", got, want)
	}
}

func TestParseLoadAvg(t *testing.T) {
	check(t, ParseLoadAvg, "0.07 10.04 3.5 1/82 2897\n", LoadAvg{0.07, 10.04, 3.5, 1, 82}, "")
	for _, bad := range []string{"", "0.07 0.04", "a 0 0 1/2 3", "0.1 0.1 0.1 12 3", "0.1 0.1 0.1 1/x 3", "1e3 0 0 1/2", "1. 0 0 1/2"} {
		check(t, ParseLoadAvg, bad, LoadAvg{}, "loadavg")
	}
}

func TestParseCPUModel(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel\t\t: 1\nmodel name\t: AMD EPYC\n\nprocessor\t: 1\nmodel name\t: other\n", "AMD EPYC"},
		{"processor\t: 0\ncpu\t\t: POWER9, altivec supported\n", "POWER9, altivec supported"},
		{"processor\t: 0\nCPU part\t: 0xd0c\n\nHardware\t: BCM2835\nModel\t\t: Raspberry Pi 4\n", "Raspberry Pi 4"},
		{"processor\t: 0\nCPU part\t: 0xd0c\n", ""},
		{"model name\t:\n", ""},
	} {
		if got := ParseCPUModel([]byte(tt.in)); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.in, got, tt.want)
		}
	}
}

// TestParseAllocs: a sample parses on a caller's goroutine, many times a
// second, so nothing may allocate.
func TestParseAllocs(t *testing.T) {
	keys := []string{"anon", "file", "shmem"}
	var dst [3]Value
	for _, tt := range []struct {
		name, in string
		parse    func([]byte) error
	}{
		{"uint", "123456\n", func(b []byte) error { _, err := ParseUint(b); return err }},
		{"int", "-1\n", func(b []byte) error { _, err := ParseInt(b); return err }},
		{"limit", "max\n", func(b []byte) error { _, err := ParseLimit(b); return err }},
		{"flat", "anon 1\nfile 2\nother 3\n", func(b []byte) error { return ParseFlat(b, keys, dst[:]) }},
		{"status", "VmHWM:\t 1 kB\nVmRSS:\t 1 kB\n", func(b []byte) error { _, err := ParseStatus(b); return err }},
		{"statm", "732 443 415 6 0 89 0\n", func(b []byte) error { _, err := ParseStatm(b, 4096); return err }},
		{"io", "rchar: 1\nwchar: 2\n", func(b []byte) error { _, err := ParseIO(b); return err }},
		{"stat", "4 (s) S 1 42 42 0 -1 4 15 0 3 0 25 5 0 0 20 0 5 0 1 3\n", func(b []byte) error { _, err := ParseStat(b); return err }},
		{"schedstat", "1 2 3\n", func(b []byte) error { _, err := ParseSchedstat(b); return err }},
		{"cpu.max", "150000 100000\n", func(b []byte) error { _, err := ParseCPUMax(b); return err }},
		{"throttling", "nr_periods 1\nnr_throttled 2\nthrottled_usec 3\n", func(b []byte) error { _, err := ParseThrottling(b, 2); return err }},
		{"pressure", "some avg10=0.00 total=1\nfull avg10=0.00 total=2\n", func(b []byte) error { _, err := ParsePressure(b); return err }},
		{"host cpu", "cpu  1 2 3 4 5 6 7 8 9 10\n", func(b []byte) error { _, err := ParseHostCPU(b); return err }},
		{"loadavg", "0.07 10.04 3.50 1/82 2897\n", func(b []byte) error { _, err := ParseLoadAvg(b); return err }},
	} {
		b := []byte(tt.in)
		got := testing.AllocsPerRun(100, func() {
			if err := tt.parse(b); err != nil {
				t.Fatal(err)
			}
		})
		if got != 0 {
			t.Errorf("%s: got %v allocations, want 0", tt.name, got)
		}
	}
}
