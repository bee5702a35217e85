package page

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidestaff/tidestaff/probe/report"
)

// Both selects all variants.
const Both = "both"

// Options are the command line.
type Options struct {
	Profile  string   // one of the page's
	Variants []string // those that -variant selects
	Seed     uint64   // of data and schedules
	Addr     string   // "host:port" on the loopback interface
	Out      string   // the report's file; empty for none
	Markdown bool

	Runs       int  // of each variant, interleaved
	CPUProfile bool // of the server, in each phase
	Hogs       int  // processors kept busy beside one more column; none without

	flags *flag.FlagSet
}

// Parse reads the command line. Its errors are one line; flag.ErrHelp follows a
// text on the standard error.
func (p *Page) Parse(args []string) (opt Options, err error) {
	fs := flag.NewFlagSet(p.Name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	var variant string
	fs.StringVar(&opt.Profile, "profile", p.Profiles[1].Name, "`size`: "+p.Sizes)
	fs.StringVar(&variant, "variant", Both, "`which` server: "+strings.Join(p.Profiles[1].Variants, ", ")+" or both")
	fs.Uint64Var(&opt.Seed, "seed", 1, "random `number` of data and schedules")
	fs.IntVar(&opt.Runs, "runs", 1, "play each variant `n` times, first to last and last to first by turns")
	fs.BoolVar(&opt.CPUProfile, "cpu-profile", false, "profile the server's CPU time: its functions, and its methods by role")
	fs.IntVar(&opt.Hogs, "hogs", 0, "play the last variant once more beside `n` threads of another process that compute all the time")
	fs.StringVar(&opt.Addr, "addr", "127.0.0.1:0", "loopback `address` of the server; port 0 is a free one")
	fs.StringVar(&opt.Out, "out", "", "write the report as JSON to `file`")
	fs.BoolVar(&opt.Markdown, "md", false, "print Markdown")
	opt.flags = fs
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fs.SetOutput(os.Stderr)
			fs.Usage()
		}
		return opt, err
	}
	if fs.NArg() > 0 {
		return opt, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	if opt.Variants, err = p.variants(opt.Profile, variant); err != nil {
		return opt, err
	}
	return opt, opt.check()
}

// variants are those of a profile that a word selects: one by its name, or both.
func (p *Page) variants(profile, word string) ([]string, error) {
	var sizes []string
	for _, size := range p.Profiles {
		switch {
		case size.Name != profile:
			sizes = append(sizes, size.Name)
		case word == Both:
			return size.Variants, nil
		case slices.Contains(size.Variants, word):
			return []string{word}, nil
		default:
			return nil, fmt.Errorf("-variant %q: want %s or both", word, strings.Join(size.Variants, ", "))
		}
	}
	return nil, fmt.Errorf("-profile %q: want one of %s", profile, strings.Join(sizes, ", "))
}

// check finds before the run what would make it fail at the end.
func (o Options) check() error {
	if o.Runs < 1 || o.Hogs < 0 {
		return fmt.Errorf("-runs %d -hogs %d: want at least one run and no negative number", o.Runs, o.Hogs)
	}
	host, _, err := net.SplitHostPort(o.Addr)
	if err != nil {
		return fmt.Errorf("-addr: %w", err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("-addr %q: not a loopback address", o.Addr)
	}
	if o.Out == "" {
		return nil
	}
	if info, err := os.Stat(o.Out); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil // such as /dev/stdout
	}
	f, err := os.CreateTemp(filepath.Dir(o.Out), ".report-*")
	if err != nil {
		return fmt.Errorf("-out %s: %w", o.Out, errors.Unwrap(err)) // not the temporary name
	}
	f.Close()
	return os.Remove(f.Name())
}

// args are the command line of the server of one variant.
func (o Options) args(variant string) []string {
	return []string{"-profile", o.Profile, "-variant", variant, "-seed", fmt.Sprint(o.Seed), "-addr", o.Addr,
		fmt.Sprintf("-cpu-profile=%t", o.CPUProfile)}
}

// conditions are the seed and the flags, without those that change nothing in
// what is measured.
func (o Options) conditions() (c report.Conditions) {
	c.Set("-profile", o.Profile)
	c.Add("-seed", int64(o.Seed), "")
	c.Flags(o.flags)
	shown := map[string]bool{"-out": true, "-md": true, "-variant": true, "-runs": true, "-hogs": true}
	return slices.DeleteFunc(c, func(c report.Condition) bool {
		was := shown[c.Name]
		shown[c.Name] = true
		return was
	})
}
