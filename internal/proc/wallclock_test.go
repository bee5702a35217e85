package proc

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// In a bubble the system's clock is the one that is right.
func TestReadWallClock(t *testing.T) {
	now, err := ReadWallClock()
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil || time.Since(now).Abs() > time.Minute {
		t.Errorf("got %v, %v, want about %v", now, err, time.Now())
	}
	synctest.Test(t, func(t *testing.T) {
		now, err := ReadWallClock()
		if err != nil || time.Since(now).Abs() < 24*time.Hour {
			t.Errorf("got %v, %v in a bubble, where it is %v, want the system's time", now, err, time.Now())
		}
	})
}
