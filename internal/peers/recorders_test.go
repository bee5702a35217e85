package peers

import (
	"sync"
	"testing"
)

// BenchmarkRecord has one line per recorder and number of cores that record into
// one series. With all cores, a line is the wall time per record of all
// together: times the cores, it is what one record costs a core.
func BenchmarkRecord(b *testing.B) {
	values := latencies()
	for _, make := range recorders {
		b.Run("to="+make().name+"/cores=one", func(b *testing.B) {
			b.ReportAllocs()
			record := make().goroutine()
			for i := 0; b.Loop(); i++ {
				record(values[i%len(values)])
			}
		})
		b.Run("to="+make().name+"/cores=all", func(b *testing.B) {
			b.ReportAllocs()
			r := make()
			b.RunParallel(func(pb *testing.PB) {
				record := r.goroutine()
				for i := 0; pb.Next(); i++ {
					record(values[i%len(values)])
				}
			})
		})
	}
}

// TestRecordersCount shows that all of them do the work that is compared: what
// several goroutines record arrives.
func TestRecordersCount(t *testing.T) {
	const goroutines, each = 4, 10_000
	values := latencies()
	for _, make := range recorders {
		r := make()
		t.Run(r.name, func(t *testing.T) {
			var wg sync.WaitGroup
			for range goroutines {
				wg.Go(func() {
					record := r.goroutine()
					for i := range each {
						record(values[i%len(values)])
					}
				})
			}
			wg.Wait()
			got, err := r.count()
			if err != nil || got != goroutines*each {
				t.Errorf("got %d records and error %v, want %d", got, err, goroutines*each)
			}
		})
	}
}

// TestRecordersAllocate holds all of them to the same condition: whoever records
// does not allocate, once its series exists.
func TestRecordersAllocate(t *testing.T) {
	values := latencies()
	for _, make := range recorders {
		r := make()
		t.Run(r.name, func(t *testing.T) {
			record := r.goroutine()
			for _, v := range values {
				record(v)
			}
			i := 0
			if got := testing.AllocsPerRun(1000, func() { record(values[i%len(values)]); i++ }); got != 0 {
				t.Errorf("got %v allocations per record, want 0", got)
			}
		})
	}
}
