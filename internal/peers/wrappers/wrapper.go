package wrappers

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"slices"

	xsam "github.com/XSAM/otelsql"
	"github.com/ngrok/sqlmw"
	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/sqlitetrace"
	uptrace "github.com/uptrace/opentelemetry-go-extra/otelsql"
	nhat "go.nhat.io/otelsql"
	"go.opentelemetry.io/otel/attribute"
	noopmeter "go.opentelemetry.io/otel/metric/noop"
	nooptracer "go.opentelemetry.io/otel/trace/noop"
)

// A wrapper is one way to look at what goes to a driver.
type wrapper struct {
	name string
	open func(c driver.Driver, dsn string) (*database, error)
}

// A database is one that is opened through a wrapper.
type database struct {
	*sql.DB
	ctx context.Context // what its statements are executed with
	// calls is how many calls the wrapper has measured so far; nil if it
	// measures none.
	calls func() (uint64, error)
	// methods counts the operations by the method that sqlitetrace has found;
	// nil for others.
	methods func() map[string]uint64
	// finish ends what the wrapper has besides the database; may be nil.
	finish func() error
}

// Close closes the database, and then whatever has measured it.
func (d *database) Close() error {
	err := d.DB.Close()
	if d.finish != nil {
		err = errors.Join(err, d.finish())
	}
	return err
}

// wrappers are what is compared, the bare driver first.
var wrappers = []wrapper{
	{"bare", openBare},
	{"tidestaff-unwatched", openUnwatched},
	{"tidestaff", watched(sqlitetrace.Options{}, labelled())},
	{"tidestaff-auto", watched(sqlitetrace.Options{}, context.Background())},
	{"tidestaff-exact", watched(sqlitetrace.Options{RowTiming: sqlitetrace.RowTimingExact}, labelled())},
	{plansOn, watched(sqlitetrace.Options{Plans: sqlitetrace.PlansOnce}, labelled())},
	{"xsam-noop", openXSAMNoop},
	{"xsam", openXSAM},
	{"nhat", openNhat},
	{"uptrace", openUptrace},
	{"sqlmw", openSqlmw},
}

// plansOn looks at plans, which needs a real database to ask.
const plansOn = "tidestaff-plans"

// wrappersOf are the wrappers that can be put around a driver.
func wrappersOf(on target) []wrapper {
	return slices.DeleteFunc(slices.Clone(wrappers), func(w wrapper) bool { return w.name == plansOn && on.name == "fake" })
}

// labelled is a context that says who calls: method and role.
func labelled() context.Context {
	return probe.WithMethod(probe.WithRole(context.Background(), "request"), "(*Store).Labelled")
}

func openBare(d driver.Driver, dsn string) (*database, error) { return through(d, dsn) }

// through opens a database whose statements are executed with an empty context.
func through(d driver.Driver, dsn string) (*database, error) {
	c, err := connectorOf(d, dsn)
	if err != nil {
		return nil, err
	}
	return &database{DB: sql.OpenDB(c), ctx: context.Background()}, nil
}

func openUnwatched(d driver.Driver, dsn string) (*database, error) {
	return through(sqlitetrace.New(sqlitetrace.Options{}).Driver(d), dsn)
}

// watched opens through sqlitetrace with a window that stays open.
func watched(o sqlitetrace.Options, ctx context.Context) func(driver.Driver, string) (*database, error) {
	return func(d driver.Driver, dsn string) (*database, error) {
		p := sqlitetrace.New(o)
		w, err := p.Watch()
		if err != nil {
			return nil, err
		}
		db, err := through(p.Driver(d), dsn)
		if err != nil {
			w.Close()
			return nil, err
		}
		db.ctx = ctx
		db.methods = func() map[string]uint64 { return methods(w) }
		db.calls = func() (n uint64, err error) {
			for _, calls := range db.methods() {
				n += calls
			}
			return n, nil
		}
		db.finish = func() error { w.Close(); return nil }
		return db, nil
	}
}

// system is the one attribute that each of the OpenTelemetry wrappers is given,
// as their documentation asks for.
var system = attribute.String("db.system", "sqlite")

func openXSAMNoop(d driver.Driver, dsn string) (*database, error) {
	return through(xsam.WrapDriver(d, xsam.WithAttributes(system),
		xsam.WithTracerProvider(nooptracer.NewTracerProvider()), xsam.WithMeterProvider(noopmeter.NewMeterProvider())), dsn)
}

func openXSAM(d driver.Driver, dsn string) (*database, error) {
	m := newMeter()
	return m.measure(through(xsam.WrapDriver(d, xsam.WithAttributes(system),
		xsam.WithTracerProvider(nooptracer.NewTracerProvider()), xsam.WithMeterProvider(m.provider)), dsn))
}

func openNhat(d driver.Driver, dsn string) (*database, error) {
	m := newMeter()
	return m.measure(through(nhat.Wrap(d, nhat.WithSystem(system),
		nhat.WithTracerProvider(nooptracer.NewTracerProvider()), nhat.WithMeterProvider(m.provider)), dsn))
}

// openUptrace wraps a connector, since that package wraps no driver.
func openUptrace(d driver.Driver, dsn string) (*database, error) {
	m := newMeter()
	c, err := connectorOf(d, dsn)
	if err != nil {
		return nil, err
	}
	db := uptrace.OpenDB(c, uptrace.WithAttributes(system),
		uptrace.WithTracerProvider(nooptracer.NewTracerProvider()), uptrace.WithMeterProvider(m.provider))
	return m.measure(&database{DB: db, ctx: context.Background()}, nil)
}

func openSqlmw(d driver.Driver, dsn string) (*database, error) {
	return through(sqlmw.Driver(d, sqlmw.NullInterceptor{}), dsn)
}

// connectorOf opens a driver's connector as sql.Open does.
func connectorOf(d driver.Driver, dsn string) (driver.Connector, error) {
	if c, ok := d.(driver.DriverContext); ok {
		return c.OpenConnector(dsn)
	}
	return dsnConnector{d, dsn}, nil
}

// A dsnConnector opens the connections of a driver that has only Open.
type dsnConnector struct {
	driver driver.Driver
	dsn    string
}

// Connect implements [driver.Connector].
func (c dsnConnector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.dsn) }

// Driver implements [driver.Connector].
func (c dsnConnector) Driver() driver.Driver { return c.driver }
