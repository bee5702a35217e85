package peers

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/tidestaff/tidestaff/probe"
)

var duration = &probe.Desc{Name: "peers.call.duration", Unit: "s", Help: "Time of a call."}

// watch opens a window for the length of a benchmark.
func watch(b testing.TB, p probe.Probe) *probe.Window {
	b.Helper()
	w, err := p.Watch()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { w.Close() })
	return w
}

// BenchmarkWindows shows what open windows cost whoever records: nothing.
func BenchmarkWindows(b *testing.B) {
	values := latencies()
	for _, n := range []int{0, 1, 3} {
		b.Run(fmt.Sprintf("open=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			var c probe.Core
			r := c.Recorder(duration)
			for range n {
				watch(b, &c)
			}
			for i := 0; b.Loop(); i++ {
				r.Record(values[i%len(values)])
			}
		})
	}
}

// busySeries is how many series DESIGN's targets for readers speak of.
const busySeries = 500

// busy makes series of which each has all the latencies, in two shards.
func busy(c *probe.Core) []*probe.Recorder {
	all := make([]*probe.Recorder, busySeries)
	for i := range all {
		all[i] = c.Recorder(duration, probe.Attr{Key: "peers.method", Value: strconv.Itoa(i)})
	}
	fill(all)
	return all
}

func fill(series []*probe.Recorder) {
	values := latencies()
	for _, r := range series {
		for i, v := range values {
			r.RecordShard(i%2, v)
		}
	}
}

// BenchmarkReader is what reading costs whoever reads, over 500 busy series and
// into a reading that it owns.
func BenchmarkReader(b *testing.B) {
	b.Run("do=Read", func(b *testing.B) { // everything is in the window
		b.ReportAllocs()
		var c probe.Core
		w := watch(b, &c)
		busy(&c)
		var r probe.Reading
		w.Read(&r)
		for b.Loop() {
			w.Read(&r)
		}
	})
	b.Run("do=Next", func(b *testing.B) { // nothing is: an idle interval
		b.ReportAllocs()
		var c probe.Core
		w := watch(b, &c)
		busy(&c)
		var r probe.Reading
		w.Next(&r)
		for b.Loop() {
			w.Next(&r)
		}
	})
	b.Run("do=WatchClose", func(b *testing.B) {
		b.ReportAllocs()
		var c probe.Core
		busy(&c)
		for b.Loop() {
			w, err := c.Watch()
			if err != nil {
				b.Fatal(err)
			}
			w.Close()
		}
	})
}

// BenchmarkFind is how a hot path finds its series.
func BenchmarkFind(b *testing.B) {
	type key struct{ method, role, kind string }
	keys := make([]key, 4096)
	for i := range keys {
		keys[i] = key{"(*Store).Get" + strconv.Itoa(i), "request", "query"}
	}
	table := func(limit int) *probe.Table[key, int] {
		t := probe.NewTable(limit, key{"(other)", "(other)", "(other)"}, func(key) *int { return new(int) })
		for _, k := range keys {
			t.Get(k)
		}
		return t
	}
	b.Run("by=table", func(b *testing.B) {
		b.ReportAllocs()
		t := table(len(keys))
		for i := 0; b.Loop(); i++ {
			t.Get(keys[i%len(keys)])
		}
	})
	b.Run("by=overflow", func(b *testing.B) { // beyond the limit of 500
		b.ReportAllocs()
		t := table(0)
		for i := 0; b.Loop(); i++ {
			t.Get(keys[len(keys)/2+i%(len(keys)/2)])
		}
	})
	b.Run("by=label", func(b *testing.B) { // what the label carries
		b.ReportAllocs()
		s := probe.NewSeries(0, func(*probe.Label) *int { return new(int) })
		l := probe.LabelOf(probe.WithMethod(probe.WithRole(b.Context(), "request"), "(*Store).Get"))
		for b.Loop() {
			s.Of(l)
		}
	})
	b.Run("by=first-4096-uses", func(b *testing.B) { // all of them together
		b.ReportAllocs()
		for b.Loop() {
			table(len(keys))
		}
	})
}
