//go:build !race

package callsite_test

import "github.com/tidestaff/tidestaff/internal/callsite"

const walksFast = callsite.Walks
