package lag

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// A Stall is the typed view of a stall's event.
type Stall struct {
	ID    uint64 // numbers the stalls of a probe
	Probe string // Options.Name
	Loop  bool   // it is a stall of the loop that the probe goes through
	Start time.Time
	// Duration is from the first late slot's deadline to the last one's
	// service. The stall began less than an interval before: its true length
	// is below UpperBound.
	Duration, UpperBound time.Duration
	// Ongoing: it had not ended when the window closed.
	Ongoing bool
	// Slots were due in it; of these, Missed had no wake-up of their own.
	Slots, Missed uint64
	// Timer, Queue and LoopWait are the longest of each part of a slot's lag.
	Timer, Queue, LoopWait time.Duration
	// Causes are ranked; there is at least one.
	Causes []RankedCause
	// Overlaps are the operations that overlapped it, at most eight, the longest
	// overlap first. Their Start is in UTC.
	Overlaps []probe.Overlap
	// Captures are the files that were written, or why they were not; none
	// without Options.Capture.
	Captures []CaptureFile
	// Text is one sentence for a person.
	Text string
}

// StallsOf is the typed view of the stalls in a reading, be it fresh or read
// back from a report, in the order in which they began. A stall that was emitted
// as ongoing and completed is there once.
func StallsOf(r *probe.Reading) []Stall {
	var stalls []Stall
	for i := range r.Events {
		e := &r.Events[i]
		if e.Name != eventStall && e.Name != eventLoopStall {
			continue
		}
		s := stallOf(e)
		same := func(o Stall) bool { return o.ID == s.ID && o.Probe == s.Probe && o.Loop == s.Loop }
		if at := slices.IndexFunc(stalls, same); at >= 0 {
			stalls[at] = s
		} else {
			stalls = append(stalls, s)
		}
	}
	slices.SortStableFunc(stalls, func(a, b Stall) int { return a.Start.Compare(b.Start) })
	return stalls
}

func stallOf(e *probe.Event) Stall {
	v := values(e.Attrs)
	s := Stall{
		ID: e.ID, Probe: v[probe.AttrProbeName], Loop: e.Name == eventLoopStall, Start: e.Start, Duration: e.Duration,
		Ongoing: e.Ongoing, Text: e.Text, UpperBound: v.duration("upper_bound"),
		Timer: v.duration("timer"), Queue: v.duration("queue"), LoopWait: v.duration("loop"),
	}
	s.Slots, _ = strconv.ParseUint(v[attrPrefix+"slots"], 10, 64)
	s.Missed, _ = strconv.ParseUint(v[attrPrefix+"missed"], 10, 64)
	for i := 1; v[attrPrefix+"cause."+strconv.Itoa(i)] != ""; i++ {
		key := "cause." + strconv.Itoa(i)
		weight, err := strconv.ParseFloat(v[attrPrefix+key+".weight"], 64)
		if err != nil || !(weight >= 0 && weight <= 1) {
			weight = 0
		}
		s.Causes = append(s.Causes, RankedCause{Cause(v[attrPrefix+key]), weight, v[attrPrefix+key+".evidence"]})
	}
	for i := 1; v[attrPrefix+"overlap."+strconv.Itoa(i)] != ""; i++ {
		key := "overlap." + strconv.Itoa(i)
		start, err := time.Parse(time.RFC3339Nano, v[attrPrefix+key+".start"])
		if err != nil {
			start = time.Time{}
		}
		s.Overlaps = append(s.Overlaps, probe.Overlap{
			Start: start.UTC(), Activity: v[attrPrefix+key+".activity"], Name: v[attrPrefix+key], Role: v[attrPrefix+key+".role"],
			Duration: v.duration(key + ".duration"), Running: v[attrPrefix+key+".running"] == "true",
		})
	}
	s.Captures = capturesOf(v)
	return s
}

// attrValues are an event's attributes by their keys.
type attrValues map[string]string

func values(list []probe.Attr) attrValues {
	v := make(attrValues, len(list))
	for _, a := range list {
		v[a.Key] = a.Value
	}
	return v
}

// duration reads a time in seconds; one that is not there, or is none, is 0.
func (v attrValues) duration(key string) time.Duration {
	f, err := strconv.ParseFloat(strings.TrimSpace(v[attrPrefix+key]), 64)
	if err != nil || !(f > 0) {
		return 0
	}
	return seconds(min(f, float64(math.MaxInt32))) // 68 years
}
