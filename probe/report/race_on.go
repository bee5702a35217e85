//go:build race

package report

// raceEnabled: the build tag is the only way to know.
const raceEnabled = true
