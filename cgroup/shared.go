package cgroup

import "sync"

// A shared holds what belongs to a process or to a group, and not to the probe
// that measures it, by the name of the file it stands for. Setting a mark back
// takes it away from everybody else, so all probes of this program go through
// one.
type shared[T any] struct {
	mu    sync.Mutex
	names map[string]*counted[T]
}

type counted[T any] struct {
	value T
	users int
}

// take calls join with the value of a name, which the first user makes. Nobody
// else takes or drops meanwhile, so that join may open what leave closes.
func (s *shared[T]) take(name string, make func() T, join func(T) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.names[name]
	if c == nil {
		c = &counted[T]{value: make()}
	}
	if err := join(c.value); err != nil {
		return err
	}
	if s.names == nil {
		s.names = map[string]*counted[T]{}
	}
	s.names[name] = c
	c.users++
	return nil
}

// drop undoes take. After the last user the value is forgotten.
func (s *shared[T]) drop(name string, leave func(T)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.names[name]
	leave(c.value)
	if c.users--; c.users == 0 {
		delete(s.names, name)
	}
}
