package otelexport

import (
	"fmt"
	"reflect"
	"slices"
	"sync"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"

	"github.com/tidestaff/tidestaff/probe"
)

// claims are the registrations that are open. The same counter observed twice is
// twice as much, and nothing in the SDK says so.
var claims struct {
	sync.Mutex
	open []*claim
}

// A claim is that a provider has some probes.
type claim struct {
	provider any // globalProvider, or what was given
	members  []probe.Probe
	window   *probe.Window // over them
}

// globalProvider stands for the global provider, whichever it is: one that was there
// before it was set hands on to the one that was set.
const globalProvider = "the global MeterProvider"

// claimFor notes that a provider is about to have a probe, over which a window is open,
// or says why it cannot.
func claimFor(provider metric.MeterProvider, p probe.Probe, w *probe.Window) (*claim, error) {
	c := &claim{provider: provider, members: []probe.Probe{p}, window: w}
	if s, ok := p.(*probe.Set); ok {
		c.members = s.Members()
	}
	if same(provider, otel.GetMeterProvider()) {
		c.provider = globalProvider
	}
	for _, o := range c.enter() {
		if same(c.provider, o.provider) {
			if err := c.against(o); err != nil {
				c.release()
				return nil, err
			}
		}
	}
	return c, nil
}

// enter adds the claim and gives those that came before, so that of two at once the
// later one is refused, and the lock is not held while probes describe themselves.
func (c *claim) enter() (before []*claim) {
	claims.Lock()
	defer claims.Unlock()
	before = slices.Clone(claims.open)
	claims.open = append(claims.open, c)
	return before
}

// same tells whether two providers are one; of a type that cannot be compared, no
// two are.
func same(a, b any) bool {
	return a != nil && reflect.TypeOf(a) == reflect.TypeOf(b) && reflect.TypeOf(a).Comparable() && a == b
}

// against says what the two have in common.
func (c *claim) against(o *claim) error {
	for _, p := range c.members {
		if t := reflect.TypeOf(p); t.Comparable() && slices.Contains(o.members, p) {
			return fmt.Errorf("a probe of type %T is registered with this MeterProvider already, and would count twice", p)
		}
	}
	if err := o.window.Clash(c.window); err != nil {
		return fmt.Errorf("with what is registered with this MeterProvider already: %w", err)
	}
	return nil
}

// release ends the claim. There may be none.
func (c *claim) release() {
	claims.Lock()
	defer claims.Unlock()
	claims.open = slices.DeleteFunc(claims.open, func(o *claim) bool { return o == c })
}
