package spikes

import (
	"fmt"
	"os"
	"syscall"
	"time"
)

// Spike makes size bytes resident, holds them, and gives them back, out of the
// Go runtime's sight, so that nothing of it stays.
func Spike(size int, hold time.Duration) error {
	m, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return fmt.Errorf("map %d bytes: %w", size, err)
	}
	for i := 0; i < size; i += os.Getpagesize() {
		m[i] = 1
	}
	time.Sleep(hold)
	if err := syscall.Munmap(m); err != nil {
		return fmt.Errorf("unmap %d bytes: %w", size, err)
	}
	return nil
}
