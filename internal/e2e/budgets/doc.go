// Package budgets holds the budgets of probetest against real probes over a real
// database: what each must find, and that it finds nothing else.
package budgets
