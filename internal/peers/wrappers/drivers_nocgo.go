//go:build !cgo

package wrappers

// cgoTargets is empty: without cgo no driver in C can be built.
var cgoTargets []target
