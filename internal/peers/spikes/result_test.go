package spikes

import (
	"strings"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// TestWrite: two ways and three spikes of 10 MiB, of which the second way sees
// the whole, 40 % and nothing.
func TestWrite(t *testing.T) {
	const base = 4 * mib
	exact := func(seen int64) Seen { return Seen{base + seen, probe.Provenance{Method: "VmHWM reset"}} }
	sampled := func(seen int64, n uint64, gap time.Duration) Seen {
		return Seen{base + seen, probe.Provenance{How: probe.Sampled, Method: "sampled", Samples: n, MaxGap: gap}}
	}
	spike := func(hold time.Duration, seen ...Seen) Measured {
		return Measured{Size: 10 * mib, Hold: hold, Took: hold + 5*time.Millisecond, Base: base, Seen: seen}
	}
	r := &Result{
		Ways: []string{"exact", "slow"},
		Spikes: []Measured{
			spike(250*time.Millisecond, exact(11*mib), sampled(10*mib, 5, 110*time.Millisecond)),
			spike(20*time.Millisecond, exact(10*mib), sampled(4*mib, 4, 120*time.Millisecond)),
			spike(0, exact(9*mib), sampled(-mib, 6, 100*time.Millisecond)),
		},
		Whole: 15 * mib, Highest: 15 * mib,
		Complaints: []string{"spike 3, slow: something"},
	}
	var got strings.Builder
	if err := r.Write(&got); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"peak by spikes under-read p50 p90 max lost labelled samples p50 longest gap p50 max",
		"exact 3 0.0 % 10.0 % 10.0 % 0 3 exact",
		"slow 3 60.0 % 100.0 % 100.0 % 2 3 sampled 5 110 ms 120 ms",
		"lost, of spikes held < 20 ms 20–100 ms 100–200 ms > 200 ms",
		"exact 0 of 1 0 of 1 0 of 0 0 of 1",
		"slow 1 of 1 1 of 1 0 of 0 0 of 1",
		"window over all spikes: peak 15.0 MiB, highest tile 15.0 MiB",
		"wrong label: spike 3, slow: something",
		"labels as expected: 5 of 6",
		"spike MiB held ms took ms exact slow",
		"1 10.0 250 255 11.0 10.0",
		"3 10.0 0 5 9.0 0.0",
	} {
		if !hasLine(got.String(), want) {
			t.Errorf("no line %q in\n%s", want, got.String())
		}
	}
}

// hasLine looks for a line, whatever its blanks.
func hasLine(text, want string) bool {
	for line := range strings.Lines(text) {
		if strings.Join(strings.Fields(line), " ") == want {
			return true
		}
	}
	return false
}

func TestQuantile(t *testing.T) {
	ten := []int{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}
	for _, tt := range []struct {
		of   []int
		q    float64
		want int
	}{
		{ten, 0.5, 5}, {ten, 0.9, 9}, {ten, 1, 10}, {ten, 0, 1}, {[]int{7}, 0.5, 7}, {[]int{2, 1}, 0.9, 2},
	} {
		if got := quantile(tt.of, tt.q); got != tt.want {
			t.Errorf("quantile %v of %v: got %d, want %d", tt.q, tt.of, got, tt.want)
		}
	}
}
