package otelexport

import (
	"cmp"
	"slices"
	"strings"

	"go.opentelemetry.io/otel/attribute"

	"github.com/tidestaff/tidestaff/probe"
)

// The instrumentation scope that everything is exported under.
const (
	scopeName = "github.com/tidestaff/tidestaff/probe/otelexport"
	// Version is the library's. A test binary's build information has none.
	version = "0.1.0"
	// schemaURL is of the semantic conventions that the names of the
	// descriptions follow, where there is one.
	schemaURL = "https://opentelemetry.io/schemas/1.43.0"
)

// defaultSeries is how many series a metric may have, well below the 2,000 at which
// the SDK folds them by itself.
const defaultSeries = 500

// overflow are the attributes of the one series that stands for those beyond the
// limit, as the SDK marks its own.
var overflow = attribute.NewSet(attribute.Bool("otel.metric.overflow", true))

// setOf turns a series' attributes into OpenTelemetry's. Bytes that are no UTF-8 are
// replaced: a protocol buffer refuses them, and with them everything beside.
func setOf(attrs []probe.Attr) attribute.Set {
	kvs := make([]attribute.KeyValue, len(attrs))
	for i, a := range attrs {
		kvs[i] = attribute.String(a.Key, strings.ToValidUTF8(a.Value, "\uFFFD"))
	}
	return attribute.NewSet(kvs...)
}

// A quota is which series of each metric are exported. The first to come stay in, so
// that neither they nor the overflow ever step back. Its user has a lock.
type quota struct {
	most  int
	known map[string]map[attribute.Distinct]struct{} // by metric
}

func newQuota(most int) *quota {
	return &quota{cmp.Or(max(most, 0), defaultSeries), map[string]map[attribute.Distinct]struct{}{}}
}

// admit gives the attributes under which a series is exported.
func (q *quota) admit(metric string, set attribute.Set) attribute.Set {
	series := q.known[metric]
	if series == nil {
		series = map[attribute.Distinct]struct{}{}
		q.known[metric] = series
	}
	key := set.Equivalent()
	if _, ok := series[key]; !ok {
		if len(series) >= q.most {
			return overflow
		}
		series[key] = struct{}{}
	}
	return set
}

// exported are the descriptions of what may leave the process, of the kinds that are
// asked for.
func exported(p probe.Probe, want func(probe.Kind) bool) []*probe.Desc {
	return slices.DeleteFunc(slices.Clone(p.Describe()), func(d *probe.Desc) bool { return d.Detail || !want(d.Kind) })
}
