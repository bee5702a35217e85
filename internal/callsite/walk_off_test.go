//go:build !(amd64 || arm64) || tidestaff_nofp

package callsite

const walks = false

func GiveUp() func() { return func() {} }
