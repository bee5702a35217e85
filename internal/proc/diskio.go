package proc

import "fmt"

// DeviceIO is what a group's processes had a device do, summed over devices.
// A device on top of another (LVM, RAID, dm-crypt) is counted beside it. What
// the page cache answered is not in it, and written pages count when they are
// written back, to the group that owns the page.
//
// All four are absent if the kernel lists no device, which it does until the
// first IO, and for ever where the device, its scheduler or the file system
// (ZFS) does not account to groups: "none listed" is not "none done".
type DeviceIO struct {
	ReadBytes, WriteBytes Value
	ReadOps, WriteOps     Value
}

// ParseIOStat parses version 2's io.stat, a line of "major:minor key=number..."
// for each device. Some kernels print a device without keys, or two devices in
// a row.
func ParseIOStat(b []byte) (DeviceIO, error) {
	var d DeviceIO
	for len(b) > 0 {
		var line, field []byte
		line, b = nextLine(b)
		for rest := line; ; {
			if field, rest = nextField(rest); len(field) == 0 {
				break
			}
			if !d.addField(field) {
				return DeviceIO{}, fmt.Errorf("io.stat: %q in %q", clip(field), clip(line))
			}
		}
	}
	return d, nil
}

// addField adds a field "key=number". Keys that are not of interest may have
// anything.
func (d *DeviceIO) addField(field []byte) bool {
	var dst *Value
	n := 0
	for n < len(field) && field[n] != '=' {
		n++
	}
	switch string(field[:n]) {
	case "rbytes":
		dst = &d.ReadBytes
	case "wbytes":
		dst = &d.WriteBytes
	case "rios":
		dst = &d.ReadOps
	case "wios":
		dst = &d.WriteOps
	default:
		return true
	}
	return n < len(field) && dst.add(field[n+1:])
}

// add adds a number in decimal to v.
func (v *Value) add(text []byte) bool {
	n, ok := digits(text)
	sum := v.V + n
	*v = Value{V: sum, OK: true}
	return ok && sum >= n
}

// ParseBlkio parses one of version 1's blkio.throttle files, a line of
// "major:minor Operation number" for each device and operation, and a last one
// of "Total number".
func ParseBlkio(b []byte) (read, write Value, err error) {
	for len(b) > 0 {
		var line []byte
		line, b = nextLine(b)
		_, rest := nextField(line)
		operation, rest := nextField(rest)
		number, _ := nextField(rest)
		ok := true
		switch string(operation) {
		case "Read":
			ok = read.add(number)
		case "Write":
			ok = write.add(number)
		}
		if !ok {
			return Value{}, Value{}, fmt.Errorf("blkio: not a number: %q", clip(line))
		}
	}
	return read, write, nil
}
