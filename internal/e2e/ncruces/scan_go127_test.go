//go:build go1.27

package ncruces

// scansColumns says that database/sql lets the driver's rows scan.
const scansColumns = true
