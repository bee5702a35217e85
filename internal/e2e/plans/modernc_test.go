package plans

import (
	"testing"

	_ "modernc.org/sqlite"
)

func TestModernc(t *testing.T) { suite(t, "sqlite") }
