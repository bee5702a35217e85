module github.com/tidestaff/tidestaff/internal/e2e

go 1.26

require github.com/tidestaff/tidestaff v0.0.0

replace github.com/tidestaff/tidestaff => ../..
