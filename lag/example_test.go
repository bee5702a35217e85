package lag_test

import (
	"fmt"
	"net/http"
	"time"

	"github.com/tidestaff/tidestaff/lag"
)

func Example() {
	p := lag.New(lag.Options{Interval: 5 * time.Millisecond})
	w, err := p.Watch()
	if err != nil {
		fmt.Println(err)
		return
	}
	time.Sleep(100 * time.Millisecond) // the load

	stats, ok := lag.StatsOf(w.Close())
	total := stats.Total // a lag.Part: total.P50, total.P95, total.P99, total.Max
	fmt.Println(ok, total.Count == stats.Slots, total.P50 <= total.Max)
	// Output: true true true
}

// A service that sheds load while what it has accepted waits for a processor.
func ExampleProbe_Pending() {
	p := lag.New(lag.Options{})
	w, err := p.Watch() // for the life of the service
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()

	shed := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if age, watched := p.Pending(); watched && age > 500*time.Millisecond {
				http.Error(rw, "overloaded", http.StatusServiceUnavailable)
				return
			}
			next.ServeHTTP(rw, r)
		})
	}
	_ = shed
	age, watched := p.Pending()
	fmt.Println(age < time.Hour, watched)
	// Output: true true
}
