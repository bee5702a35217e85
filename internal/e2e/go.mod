module github.com/tidestaff/tidestaff/internal/e2e

go 1.26

require (
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3
	github.com/tidestaff/tidestaff v0.0.0
)

require (
	github.com/HdrHistogram/hdrhistogram-go v1.4.0 // indirect
	golang.org/x/text v0.14.0 // indirect
)

replace github.com/tidestaff/tidestaff => ../..
