module github.com/tidestaff/tidestaff

go 1.26

require (
	github.com/HdrHistogram/hdrhistogram-go v1.4.0
	github.com/google/go-cmp v0.7.0
)
