// Package cpuprof reads CPU profiles as runtime/pprof writes them: the samples,
// each with the function that ran and the goroutine's labels.
//
// It knows as much of the format (profile.proto of pprof, compressed by gzip) as
// that takes, because the packages that know all of it are not for the root
// module to require. Stacks, addresses and mappings are skipped.
package cpuprof

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
)

// A Sample is what one stack with one set of labels took.
type Sample struct {
	// Function is the innermost function that ran, inlined ones included, as the
	// runtime names it; "" if the profile does not know.
	Function string
	// Labels are the goroutine's, nil if it had none. Numeric ones are left out.
	Labels map[string]string
	// Count is how many ticks of the profiler's clock fell on it, and CPU their
	// time in nanoseconds.
	Count, CPU int64
}

// mostBytes bounds the profile, compressed and not: one of an hour is about a
// megabyte, and a file of a few bytes can decompress to anything.
const mostBytes = 256 << 20

// Decode reads a profile. The samples are in the order of the file. An error
// says what is wrong with it; nothing is read by halves.
func Decode(r io.Reader) ([]Sample, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("cpuprof: %w", err)
	}
	b, err := io.ReadAll(io.LimitReader(z, mostBytes+1))
	if err == nil && len(b) > mostBytes {
		err = errors.New("more than 256 MiB")
	}
	if err != nil {
		return nil, fmt.Errorf("cpuprof: %w", err)
	}
	samples, err := decode(b)
	if err != nil {
		return nil, fmt.Errorf("cpuprof: %w", err)
	}
	return samples, nil
}

// A profile is the message with its references not yet followed.
type profile struct {
	types     []valueType
	samples   []rawSample
	locations map[uint64]uint64 // to the function of the innermost line
	functions map[uint64]uint64 // to the string of the name
	strings   []string
}

// Fields of the messages, by their numbers in profile.proto.
const (
	profileSampleType = 1
	profileSample     = 2
	profileLocation   = 4
	profileFunction   = 5
	profileString     = 6

	valueTypeType = 1
	valueTypeUnit = 2

	sampleLocation = 1
	sampleValue    = 2
	sampleLabel    = 3

	labelKey = 1
	labelStr = 2

	locationID   = 1
	locationLine = 4
	lineFunction = 1

	functionID   = 1
	functionName = 2
)

type valueType struct{ name, unit uint64 }

type rawSample struct {
	locations []uint64 // the innermost first
	values    []uint64
	labels    [][2]uint64 // key and value, as strings
}

// decode reads the message and follows the references: the strings come last.
func decode(b []byte) ([]Sample, error) {
	p := profile{locations: map[uint64]uint64{}, functions: map[uint64]uint64{}}
	if err := fields(b, p.field); err != nil {
		return nil, err
	}
	count, cpu := -1, -1
	for i, t := range p.types {
		name, err := p.text(t.name)
		if err != nil {
			return nil, err
		}
		unit, err := p.text(t.unit)
		if err != nil {
			return nil, err
		}
		switch name + "/" + unit {
		case "samples/count":
			count = i
		case "cpu/nanoseconds":
			cpu = i
		}
	}
	if count < 0 || cpu < 0 {
		return nil, errors.New("not a CPU profile: no samples/count and cpu/nanoseconds")
	}
	samples := make([]Sample, 0, len(p.samples))
	for i := range p.samples {
		s, err := p.sample(&p.samples[i], count, cpu)
		if err != nil {
			return nil, fmt.Errorf("sample %d: %w", i, err)
		}
		samples = append(samples, s)
	}
	return samples, nil
}

// sample follows one sample's references.
func (p *profile) sample(raw *rawSample, count, cpu int) (s Sample, err error) {
	if max(count, cpu) >= len(raw.values) {
		return s, fmt.Errorf("%d values, want %d", len(raw.values), len(p.types))
	}
	s.Count, s.CPU = int64(raw.values[count]), int64(raw.values[cpu])
	if s.Count < 0 || s.CPU < 0 {
		return s, errors.New("a negative value")
	}
	if len(raw.locations) > 0 {
		if s.Function, err = p.text(p.functions[p.locations[raw.locations[0]]]); err != nil {
			return s, err
		}
	}
	for _, l := range raw.labels {
		key, err := p.text(l[0])
		if err != nil {
			return s, err
		}
		value, err := p.text(l[1])
		if err != nil {
			return s, err
		}
		if value == "" {
			continue // a number, or nothing
		}
		if s.Labels == nil {
			s.Labels = map[string]string{}
		}
		s.Labels[key] = value
	}
	return s, nil
}

// text is a string of the table. The first one is always empty, and stands for
// what is not there.
func (p *profile) text(i uint64) (string, error) {
	if i == 0 {
		return "", nil
	}
	if i >= uint64(len(p.strings)) {
		return "", fmt.Errorf("string %d of %d", i, len(p.strings))
	}
	return p.strings[i], nil
}

// field takes in one field of the profile.
func (p *profile) field(f field) error {
	switch f.number {
	case profileString:
		p.strings = append(p.strings, string(f.bytes))
	case profileSampleType:
		var t valueType
		p.types = append(p.types, t)
		last := &p.types[len(p.types)-1]
		return fields(f.bytes, func(f field) error {
			switch f.number {
			case valueTypeType:
				last.name = f.value
			case valueTypeUnit:
				last.unit = f.value
			}
			return nil
		})
	case profileSample:
		return p.addSample(f.bytes)
	case profileLocation:
		return p.addLocation(f.bytes)
	case profileFunction:
		var id, name uint64
		err := fields(f.bytes, func(f field) error {
			switch f.number {
			case functionID:
				id = f.value
			case functionName:
				name = f.value
			}
			return nil
		})
		p.functions[id] = name
		return err
	}
	return nil
}

// addSample reads lists of numbers packed and not, as writers may choose.
func (p *profile) addSample(b []byte) error {
	var s rawSample
	err := fields(b, func(f field) error {
		switch f.number {
		case sampleLocation:
			return f.numbers(&s.locations)
		case sampleValue:
			return f.numbers(&s.values)
		case sampleLabel:
			var l [2]uint64
			err := fields(f.bytes, func(f field) error {
				switch f.number {
				case labelKey:
					l[0] = f.value
				case labelStr:
					l[1] = f.value
				}
				return nil
			})
			s.labels = append(s.labels, l)
			return err
		}
		return nil
	})
	p.samples = append(p.samples, s)
	return err
}

// addLocation keeps the function of the first line: where calls were inlined,
// the innermost one comes first.
func (p *profile) addLocation(b []byte) error {
	var id, function uint64
	err := fields(b, func(f field) error {
		switch f.number {
		case locationID:
			id = f.value
		case locationLine:
			if function != 0 {
				return nil
			}
			return fields(f.bytes, func(f field) error {
				if f.number == lineFunction {
					function = f.value
				}
				return nil
			})
		}
		return nil
	})
	p.locations[id] = function
	return err
}

// Total adds up the samples.
func Total(samples []Sample) (count, cpu int64) {
	for _, s := range samples {
		count += s.Count
		cpu += s.CPU
	}
	return count, cpu
}

// By adds up the samples by a key that is made of each, the largest first.
func By(samples []Sample, key func(*Sample) string) []Sample {
	sums := map[string]*Sample{}
	for i := range samples {
		k := key(&samples[i])
		if sums[k] == nil {
			sums[k] = &Sample{Function: k}
		}
		sums[k].Count += samples[i].Count
		sums[k].CPU += samples[i].CPU
	}
	list := make([]Sample, 0, len(sums))
	for _, k := range slices.Sorted(maps.Keys(sums)) {
		list = append(list, *sums[k])
	}
	slices.SortStableFunc(list, func(a, b Sample) int {
		switch {
		case a.CPU > b.CPU:
			return -1
		case a.CPU < b.CPU:
			return 1
		}
		return bytes.Compare([]byte(a.Function), []byte(b.Function))
	})
	return list
}
