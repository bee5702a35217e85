//go:build race

package callsite_test

const walksFast = false
