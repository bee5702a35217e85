package lag

import (
	"time"

	"github.com/tidestaff/tidestaff/internal/proc"
)

// inBubble reports whether time is fake here, as it is under testing/synctest:
// its clock stands in the year 2000, whatever the system's says.
func inBubble() bool {
	wall, err := proc.ReadWallClock()
	return err == nil && time.Since(wall).Abs() > 24*time.Hour
}

// noData is why there is none in a bubble.
const noData = "no data: under testing/synctest time is fake, and nothing is ever late"

// declare says of all metrics that there is no data, or takes that back.
func (p *Probe) declare(reason string) {
	for _, d := range p.core.Descs {
		p.core.Absent(d.Name, reason)
	}
}
