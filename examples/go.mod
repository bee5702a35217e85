module github.com/tidestaff/tidestaff/examples

go 1.26

require (
	github.com/google/go-cmp v0.7.0
	github.com/tidestaff/tidestaff v0.0.0
)

require github.com/HdrHistogram/hdrhistogram-go v1.4.0 // indirect

replace github.com/tidestaff/tidestaff => ..
