//go:build cgo

package mattn

import (
	"testing"

	"github.com/tidestaff/tidestaff/internal/e2e/sqlsuite"
)

// TestCountPages and TestCountPagesLocked ask a real database for its pages.
func TestCountPages(t *testing.T)       { sqlsuite.CountPages(t, name) }
func TestCountPagesLocked(t *testing.T) { sqlsuite.CountPagesLocked(t, name) }

// TestCheckpoint moves a real log into its database.
func TestCheckpoint(t *testing.T) { sqlsuite.Checkpoint(t, name, false) }

// TestBegins holds what is known of the beginnings of transactions against SQLite.
func TestBegins(t *testing.T) { sqlsuite.Begins(t, name) }
