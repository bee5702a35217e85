package proc

import (
	"bytes"
	"math"
	"strconv"
	"testing"
	"time"
)

// FuzzNumbers compares the number parsers with strconv on what both accept.
func FuzzNumbers(f *testing.F) {
	for _, s := range []string{"0", "-1", "max", "18446744073709551616", "9223372036854771712", " 7\n", "+1", "1_0"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		text := string(bytes.TrimSpace(b))
		if got, err := ParseUint(b); err == nil {
			if want, err := strconv.ParseUint(text, 10, 64); err != nil || got != want {
				t.Errorf("ParseUint(%q) = %d, want %d, %v", b, got, want, err)
			}
		}
		if got, err := ParseInt(b); err == nil {
			if want, err := strconv.ParseInt(text, 10, 64); err != nil || got != want {
				t.Errorf("ParseInt(%q) = %d, want %d, %v", b, got, want, err)
			}
		}
		if v, err := ParseLimit(b); err == nil && v.OK {
			if want, err := strconv.ParseUint(text, 10, 64); err != nil || v.V != want || want > math.MaxInt64 {
				t.Errorf("ParseLimit(%q) = %d, want %d, %v", b, v.V, want, err)
			}
		}
	})
}

// FuzzKeyed checks that a number is found only where its key begins a line.
func FuzzKeyed(f *testing.F) {
	f.Add([]byte("anon 1\nfile 2\n"))
	f.Add([]byte("VmHWM:\t 12 kB\nVmRSS: 8 kB"))
	f.Add([]byte("file  18446744073709551615 kB\nanon"))
	keys := []string{"anon", "file", "VmHWM"}
	f.Fuzz(func(t *testing.T, b []byte) {
		var dst [3]Value
		for _, sep := range []byte{' ', ':'} {
			if parseKeyed(b, sep, keys, dst[:]) != nil {
				continue
			}
			for i, v := range dst {
				start := append([]byte(keys[i]), sep)
				if v.OK && !bytes.HasPrefix(b, start) && !bytes.Contains(b, append([]byte("\n"), start...)) {
					t.Errorf("%q in %q: got %d", keys[i], b, v.V)
				}
			}
		}
	})
}

// FuzzProcess covers the files of one process: no panic, no negative time.
func FuzzProcess(f *testing.F) {
	f.Add([]byte("42 (a) R (b) S 1 42 42 0 -1 4 15 0 3 0 25 5 0 0 20 0 5 0 12345 3\n"))
	f.Add([]byte("732 443 415 6 0 89 0\n"))
	f.Add([]byte("VmHWM:\t 12 kB\nRssAnon: 8 kB"))
	f.Add([]byte("rchar: 1\nsyscr: 2\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := ParseStat(b); err == nil && (s.User < 0 || s.System < 0 || s.Start < 0) {
			t.Errorf("%q: got %+v", b, s)
		}
		if s, err := ParseSchedstat(b); err == nil && (s.Ran < 0 || s.Waited < 0) {
			t.Errorf("%q: got %+v", b, s)
		}
		if s, err := ParseStatm(b, 4096); err == nil && (s.RSS%4096 != 0 || s.Size%4096 != 0) {
			t.Errorf("%q: got %+v", b, s)
		}
		if s, err := ParseStatus(b); err == nil && s.HWM.OK && !bytes.Contains(b, []byte("VmHWM:")) {
			t.Errorf("%q: got %+v", b, s)
		}
		if s, err := ParseIO(b); err == nil && s.ReadChars.OK && !bytes.Contains(b, []byte("rchar:")) {
			t.Errorf("%q: got %+v", b, s)
		}
	})
}

// FuzzCPU covers quotas, throttling, pressure and the machine's CPU times.
func FuzzCPU(f *testing.F) {
	f.Add([]byte("max 100000\n"))
	f.Add([]byte("150000 100000"))
	f.Add([]byte("some avg10=0.00 avg60=0.00 avg300=0.00 total=1\nfull total=2"))
	f.Add([]byte("cpu  1 2 3 4 5 6 7 8 9 10\n"))
	f.Add([]byte("nr_periods 7\nnr_throttled 2\nthrottled_usec 9223372036854775808\nthrottled_time 5\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := ParseCPUMax(b); err == nil && (m.Quota < 0 || m.Period < 0 || math.IsNaN(m.CPUs()) || math.IsInf(m.CPUs(), 0)) {
			t.Errorf("%q: got %+v, %v CPUs", b, m, m.CPUs())
		}
		for version := 1; version <= 2; version++ {
			if v, err := ParseThrottling(b, version); err == nil && (v.Periods == 0 || v.Time < 0) {
				t.Errorf("%q, version %d: got %+v", b, version, v)
			}
		}
		if p, err := ParsePressure(b); err == nil && p.Some.Total.OK && !bytes.Contains(b, []byte("total=")) {
			t.Errorf("%q: got %+v", b, p)
		}
		if c, err := ParseHostCPU(b); err == nil {
			for _, d := range []time.Duration{c.User, c.Nice, c.System, c.Idle, c.IOWait, c.IRQ, c.SoftIRQ, c.Steal} {
				if d < 0 {
					t.Errorf("%q: got %+v", b, c)
				}
			}
		}
	})
}

// FuzzHost covers the machine's load and processor.
func FuzzHost(f *testing.F) {
	f.Add([]byte("0.07 0.04 0.01 1/82 2897\n"))
	f.Add([]byte("model name\t: AMD EPYC\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if l, err := ParseLoadAvg(b); err == nil && !(l.One >= 0 && l.Five >= 0 && l.Fifteen >= 0) {
			t.Errorf("%q: got %+v", b, l)
		}
		if s := ParseCPUModel(b); s != "" && !bytes.Contains(b, []byte(s)) {
			t.Errorf("%q: got %q", b, s)
		}
	})
}
