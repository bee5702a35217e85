package growth

import "math"

// An Order is how a cost grows with the size n of the data.
type Order int

// The orders. The zero value is the usual bound of what handles n items.
const (
	NLogN Order = iota
	Constant
	Linear
	Quadratic
)

// orders are an order's function, its name, and the name of what grows faster by
// n, which is what exceeds it.
var orders = map[Order]struct {
	at           func(n float64) float64
	name, excess string
}{
	NLogN:     {func(n float64) float64 { return n * math.Log2(n) }, "n log n", "n² log n"},
	Constant:  {func(float64) float64 { return 1 }, "constant", "n"},
	Linear:    {func(n float64) float64 { return n }, "n", "n²"},
	Quadratic: {func(n float64) float64 { return n * n }, "n²", "n³"},
}

// Valid reports whether o is one of the orders.
func (o Order) Valid() bool { _, ok := orders[o]; return ok }

// String is the order as people write it: "n log n".
func (o Order) String() string { return orders[o].name }

// Excess is the order that is one n larger: "n² log n".
func (o Order) Excess() string { return orders[o].excess }

func (o Order) at(n int) float64 { return orders[o].at(float64(n)) }
