package cgroup

import "github.com/tidestaff/tidestaff/probe"

// A Value is one number and how it is known, or the reason why it is not. The
// zero Value is a number that is not there.
type Value struct {
	// V is the number, in the unit that the field or row with the Value says.
	// It means nothing unless OK.
	V  float64
	OK bool
	// Prov says how the number was obtained.
	Prov probe.Provenance
	// Reason is, in words for a person, why the number is not there, or why it
	// could not be had exactly.
	Reason string
}
