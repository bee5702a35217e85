package report

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Condition is one thing that must be equal for two runs to be compared.
type Condition struct {
	Name string `json:"name"`
	// Value is a string, a bool, an int64 or a float64.
	Value any `json:"value"`
	// Unit is the UCUM unit of a number, such as "By" or "{row}".
	Unit string `json:"unit,omitempty"`
}

// Conditions are an ordered list of them. The methods append; they are for
// the time before or after the run, not during it: Tree reads a whole folder.
type Conditions []Condition

// Add appends a number in a UCUM unit, such as the rows of a table:
//
//	c.Add("sandboxes", 20_000, "{row}")
func (c *Conditions) Add(name string, value int64, unit string) {
	*c = append(*c, Condition{Name: name, Value: value, Unit: unit})
}

// Set appends a text, such as a version or a mode.
func (c *Conditions) Set(name, value string) {
	*c = append(*c, Condition{Name: name, Value: value})
}

// Flags appends every flag whose value differs from its default, as
// "-name" and its text. Parse the set first.
func (c *Conditions) Flags(set *flag.FlagSet) {
	set.VisitAll(func(f *flag.Flag) {
		if v := f.Value.String(); v != f.DefValue {
			c.Set("-"+f.Name, v)
		}
	})
}

// File appends the size of a file in bytes under its base name; a database's
// write-ahead log is a file of its own. A file that does not exist is no
// condition and no error.
func (c *Conditions) File(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("report: condition: %w", err)
	}
	c.Add(filepath.Base(path), info.Size(), "By")
	return nil
}

// Tree appends, under the folder's base name, how many regular files there are
// in it and below, and their bytes together. Files that vanish while it counts
// are skipped.
func (c *Conditions) Tree(dir string) error {
	var files, bytes int64
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.Type().IsRegular() {
			return nil
		}
		var info fs.FileInfo
		if err == nil {
			info, err = d.Info()
		}
		if err != nil {
			if path != dir && errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		files++
		bytes += info.Size()
		return nil
	})
	if err != nil {
		return fmt.Errorf("report: condition: %w", err)
	}
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs // "." has no name of its own
	}
	c.Add(filepath.Base(dir)+" files", files, "{file}")
	c.Add(filepath.Base(dir)+" bytes", bytes, "By")
	return nil
}

// FileSystem appends the type of the file system that holds path, such as
// "ext4" or "tmpfs", as statfs(2) tells it; a type that is not known here
// appears as its number. Elsewhere than on Linux it returns
// [probe.ErrUnsupported].
func (c *Conditions) FileSystem(path string) error {
	name, err := fileSystem(path)
	if err != nil {
		return fmt.Errorf("report: condition: file system of %q: %w", path, err)
	}
	c.Set("file system", name)
	return nil
}

// text prints the condition's value.
func (c Condition) text() string {
	switch v := c.Value.(type) {
	case int64:
		if c.Unit == "" {
			return fmt.Sprint(v) // a seed, not a quantity
		}
		return formatValue(float64(v), c.Unit, "")
	case float64:
		return formatValue(v, c.Unit, "")
	}
	return fmt.Sprint(c.Value)
}

// text prints the conditions but for those in skip.
func (c Conditions) text(skip Conditions) string {
	var parts []string
	for _, one := range c {
		if !slices.Contains(skip, one) {
			parts = append(parts, one.Name+" "+one.text())
		}
	}
	return strings.Join(parts, ", ")
}

// commonConditions are those that all reports share, in the first one's order.
func commonConditions(reports []*Report) Conditions {
	var common Conditions
	if len(reports) == 0 {
		return nil
	}
	for _, one := range reports[0].allConditions() {
		missing := func(r *Report) bool { return !slices.Contains(r.allConditions(), one) }
		if !slices.ContainsFunc(reports[1:], missing) {
			common = append(common, one)
		}
	}
	return common
}
