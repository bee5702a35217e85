// Package reports holds what reports are written for against those who read them:
// a browser that lays the page out, and benchstat's own packages. It has tests
// alone.
package reports
