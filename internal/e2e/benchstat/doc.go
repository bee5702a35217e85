// Package benchstat runs real benchmarks with all probes over a real database,
// and the real benchstat over what they print.
package benchstat
