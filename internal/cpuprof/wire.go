package cpuprof

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A field is one of a protocol buffer's message. Which of value and bytes it has
// depends on its wire type.
type field struct {
	number uint64
	value  uint64 // of a varint
	bytes  []byte // of what has a length
}

// The wire types.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

var errShort = errors.New("the message ends too early")

// fields calls f for each field of the message. Fixed-size numbers, which the
// format does not have, are skipped.
func fields(b []byte, f func(field) error) error {
	for len(b) > 0 {
		tag, rest, err := varint(b)
		if err != nil {
			return err
		}
		b = rest
		one := field{number: tag >> 3}
		switch tag & 7 {
		case wireVarint:
			if one.value, b, err = varint(b); err != nil {
				return err
			}
		case wireBytes:
			n, rest, err := varint(b)
			if err != nil {
				return err
			}
			if n > uint64(len(rest)) {
				return errShort
			}
			one.bytes, b = rest[:n], rest[n:]
		case wireFixed64, wireFixed32:
			n := 4
			if tag&7 == wireFixed64 {
				n = 8
			}
			if len(b) < n {
				return errShort
			}
			b = b[n:]
			continue
		default:
			return fmt.Errorf("wire type %d", tag&7)
		}
		if err := f(one); err != nil {
			return err
		}
	}
	return nil
}

// numbers appends the numbers of a repeated field: one, or several packed.
func (f *field) numbers(list *[]uint64) error {
	if f.bytes == nil {
		*list = append(*list, f.value)
		return nil
	}
	for b := f.bytes; len(b) > 0; {
		v, rest, err := varint(b)
		if err != nil {
			return err
		}
		*list, b = append(*list, v), rest
	}
	return nil
}

// varint reads one number and returns what follows.
func varint(b []byte) (uint64, []byte, error) {
	v, n := binary.Uvarint(b)
	switch {
	case n == 0:
		return 0, nil, errShort
	case n < 0:
		return 0, nil, errors.New("a number of more than 64 bits")
	}
	return v, b[n:], nil
}
