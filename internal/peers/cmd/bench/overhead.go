package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// bare is who is compared with: what is over it is a wrapper's.
const bare = "bare"

// instant are what is wrapped of which all that is over bare is a wrapper's: the
// driver that does nothing, and files in the page cache.
var instant = []string{"fake", "cache"}

// A benchmark of wrappers is named "on=fake/by=sqlmw": what is wrapped, and what
// wraps it.
func (r *row) wraps() (on, by string) {
	on, by, _ = strings.Cut(r.name, "/")
	return strings.TrimPrefix(on, "on="), strings.TrimPrefix(by, "by=")
}

func isBare(r *row) bool {
	_, by := r.wraps()
	return by == bare
}

// bareOf finds what r is compared with, or nil.
func bareOf(r *row, rows []*row) *row {
	on, _ := r.wraps()
	i := slices.IndexFunc(rows, func(o *row) bool {
		under, by := o.wraps()
		return by == bare && under == on && o.group == r.group && o.procs == r.procs
	})
	if i < 0 {
		return nil
	}
	return rows[i]
}

// least is what is compared: whatever disturbs a benchmark's CPU time, such as
// another process in the caches, only adds to it.
func (r *row) least() float64 { return slices.Min(r.times()) }

// times are the CPU times, or the wall times of a system that has none.
func (r *row) times() []float64 {
	if len(r.cpu) > 0 {
		return r.cpu
	}
	return r.ns
}

// floorGroup is the benchmark of what no wrapper that measures can do without:
// two readings of the clock and a record. It is the unit of the targets, since
// nanoseconds are those of one machine.
const floorGroup = "Floor"

// takeFloor takes the floor out of the rows; 0 if it was not measured.
func takeFloor(rows []*row) (least float64, rest []*row) {
	for _, r := range rows {
		if r.group == floorGroup {
			least = r.least()
		} else {
			rest = append(rest, r)
		}
	}
	return least, rest
}

// overheads prints each operation with what the wrappers add to it, and then all
// operations side by side, one table per wrapped driver.
func overheads(out io.Writer, rows []*row) {
	unit := "CPU ns"
	if slices.ContainsFunc(rows, func(r *row) bool { return len(r.cpu) == 0 }) {
		unit = "wall ns"
	}
	floor, rows := takeFloor(rows)
	group := ""
	for _, r := range rows {
		if r.group != group {
			group = r.group
			fmt.Fprintf(out, "\n%s\tleast %s\tmedian\tmost\tover bare\tx bare\twall ns\tallocs/op\tover bare\t\n", group, unit)
		}
		over, times, allocs := "", "", ""
		if b := bareOf(r, rows); b != nil {
			over, times, allocs = r.over(b), number(r.least()/b.least()), r.allocsOver(b)
		}
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%g\t%s\t\n", r.name,
			number(r.least()), number(median(r.times())), number(slices.Max(r.times())),
			over, times, number(slices.Min(r.ns)), r.allocs, allocs)
	}
	sideBySide(out, rows, unit)
	if floor > 0 {
		fmt.Fprintf(out, "\nfloor, two readings of the clock and a record\t%s %s\t\n", number(floor), unit)
		for _, on := range instant {
			inFloors(out, rows, on, floor)
		}
	}
}

// inFloors has a line per wrapper and a column per operation on what is instant:
// what is over bare, in floors.
func inFloors(out io.Writer, rows []*row, instant string, floor float64) {
	var wrappers, groups []string
	cells := map[[2]string]string{}
	for _, r := range rows {
		on, by := r.wraps()
		b := bareOf(r, rows)
		if on != instant || b == nil || b == r {
			continue
		}
		wrappers, groups = added(wrappers, by), added(groups, r.group)
		cells[[2]string{by, r.group}] = fmt.Sprintf("%.1f", (r.least()-b.least())/floor)
	}
	if len(wrappers) == 0 {
		return
	}
	fmt.Fprintf(out, "\n%s, floors over bare\t%s\t\n", instant, strings.Join(groups, "\t"))
	for _, by := range wrappers {
		fmt.Fprint(out, by)
		for _, group := range groups {
			fmt.Fprint(out, "\t", cells[[2]string{by, group}])
		}
		fmt.Fprint(out, "\t\n")
	}
}

// over is what r takes over b, which noise can make negative.
func (r *row) over(b *row) string { return fmt.Sprintf("%+.0f", r.least()-b.least()) }

func (r *row) allocsOver(b *row) string { return fmt.Sprintf("%+g", r.allocs-b.allocs) }

// sideBySide has a line per wrapper and a column per operation: the time over
// the bare driver, and in brackets the allocations. The bare driver's own line
// is what they are added to.
func sideBySide(out io.Writer, rows []*row, unit string) {
	var drivers, wrappers, groups []string
	cells := map[[3]string]string{}
	for _, r := range rows {
		on, by := r.wraps()
		drivers, wrappers, groups = added(drivers, on), added(wrappers, by), added(groups, r.group)
		cell := fmt.Sprintf("%s (%g)", number(r.least()), r.allocs)
		if b := bareOf(r, rows); b != nil && b != r {
			cell = fmt.Sprintf("%s (%s)", r.over(b), r.allocsOver(b))
		}
		cells[[3]string{on, by, r.group}] = cell
	}
	for _, on := range drivers {
		fmt.Fprintf(out, "\n%s, %s over bare (allocs)\t%s\t\n", on, unit, strings.Join(groups, "\t"))
		for _, by := range wrappers {
			line := make([]string, len(groups))
			for i, group := range groups {
				line[i] = cells[[3]string{on, by, group}]
			}
			if strings.Join(line, "") != "" { // not every wrapper can be put around every driver
				fmt.Fprintf(out, "%s\t%s\t\n", by, strings.Join(line, "\t"))
			}
		}
	}
}

// added is all with s, once.
func added(all []string, s string) []string {
	if slices.Contains(all, s) {
		return all
	}
	return append(all, s)
}
