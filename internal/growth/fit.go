package growth

import "math"

// A model is the sum c + a·g(n) + b·n·g(n), where g is the bound. Its columns are
// the three terms at each size, scaled to be 1 at the largest one, so that a
// coefficient is a time at that size.
//
// Note: one coefficient of one order, as most tools fit, cannot tell a constant
// from a slower order, and takes a constant with a quadratic part for linear.
type model struct {
	rows  [][terms]float64
	terms [terms]bool
}

const terms = 3

func newModel(o Order, sizes []int) model {
	m := model{terms: [terms]bool{true, o != Constant, true}} // of a constant, the first two are one
	last := sizes[len(sizes)-1]
	for _, n := range sizes {
		g := o.at(n) / o.at(last)
		m.rows = append(m.rows, [terms]float64{1, g, g * float64(n) / float64(last)})
	}
	return m
}

// fit finds the coefficients, none below zero, with the least squares of the
// relative errors: an error of 1 % counts the same at each size, as noise does.
//
// The best fit without negative terms is the best one of some of the terms alone,
// so that all 7 choices are tried, the whole first.
func (m model) fit(times []float64) [terms]float64 {
	var a [terms][terms]float64 // the normal equations a·x = v
	var v [terms]float64
	for i, row := range m.rows {
		for j := range terms {
			for k := range terms {
				a[j][k] += row[j] * row[k] / (times[i] * times[i])
			}
			v[j] += row[j] / times[i]
		}
	}
	var best [terms]float64
	least := math.Inf(1)
	for chosen := 1<<terms - 1; chosen > 0; chosen-- {
		x, ok := m.solve(a, v, chosen)
		if !ok {
			continue
		}
		// The squared error, but for what all choices have in common.
		if e := -(v[0]*x[0] + v[1]*x[1] + v[2]*x[2]); e < least {
			best, least = x, e
		}
		if chosen == 1<<terms-1 {
			break // nothing is better than all
		}
	}
	return best
}

// solve is the least-squares solution with the chosen terms only. It is not ok if
// one of them is negative, or no term of the model.
func (m model) solve(a [terms][terms]float64, v [terms]float64, chosen int) (x [terms]float64, ok bool) {
	for j := range terms {
		switch {
		case chosen>>j&1 == 0: // replaced by x[j] = 0
			for k := range terms {
				a[j][k], a[k][j] = 0, 0
			}
			a[j][j], v[j] = 1, 0
		case !m.terms[j]:
			return x, false
		}
	}
	for j := range terms { // elimination; the matrix is positive definite
		for i := j + 1; i < terms; i++ {
			f := a[i][j] / a[j][j]
			for k := j; k < terms; k++ {
				a[i][k] -= f * a[j][k]
			}
			v[i] -= f * v[j]
		}
	}
	for j := terms - 1; j >= 0; j-- {
		x[j] = v[j]
		for k := j + 1; k < terms; k++ {
			x[j] -= a[j][k] * x[k]
		}
		x[j] /= a[j][j]
		if !(x[j] >= 0) {
			return x, false
		}
	}
	return x, true
}

// excess is the share that the last term has of the time at the largest size.
func (m model) excess(times []float64) float64 {
	x := m.fit(times)
	sum := x[0] + x[1] + x[2]
	if !(sum > 0) {
		return 0
	}
	return x[2] / sum
}
