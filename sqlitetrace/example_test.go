package sqlitetrace_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"

	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// demo stands for a driver's connector; a service would open one by name with
// [sqlitetrace.Probe.Open].
func demo() *server { return &server{shape: shape{conn: "EQ"}} }

func Example() {
	p := sqlitetrace.New(sqlitetrace.Options{})
	db := p.OpenDB(demo()) // or p.Open("sqlite", dsn)
	defer db.Close()

	w, err := p.Watch()
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := probe.WithMethod(probe.WithRole(context.Background(), "request"), "(*Store).ListSandboxes")
	rows, err := db.QueryContext(ctx, "rows 20000")
	if err != nil {
		fmt.Println(err)
		return
	}
	for rows.Next() {
	}
	rows.Close()

	r := w.Close()
	for m := range r.Find("db.client.response.returned_rows") {
		fmt.Println(m.Attr(probe.AttrMethod), m.Attr(probe.AttrRole), m.Dist.Count(), "query", m.Value, "rows")
	}
	// Output: (*Store).ListSandboxes request 1 query 20000 rows
}

// The time that the application held a cursor is the cursor's less the
// driver's.
func ExampleProbe_OpenDB() {
	p := sqlitetrace.New(sqlitetrace.Options{Name: "main"})
	db := p.OpenDB(demo())
	defer db.Close()
	w, err := p.Watch()
	if err != nil {
		fmt.Println(err)
		return
	}
	var n int
	if err := db.QueryRow("rows 1").Scan(&n); err != nil {
		fmt.Println(err)
	}
	var held, busy float64
	r := w.Close()
	for m := range r.Find("tidestaff.db.cursor.duration") {
		held += m.Value
	}
	for m := range r.Find("db.client.operation.duration", probe.Attr{Key: sqlitetrace.AttrOperation, Value: "query"}) {
		busy += m.Value
	}
	fmt.Println(held >= busy)
	// Output: true
}

// What needs a name gets one that the program registers itself.
func ExampleProbe_Driver() {
	p := sqlitetrace.New(sqlitetrace.Options{})
	sql.Register("sqlite-traced", p.Driver(fakeDriver{demo()}))
	db, err := sql.Open("sqlite-traced", "file:app.db")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	fmt.Println(db.Ping())
	// Output: <nil>
}

// A test that asserts on times of rows has every one of them timed.
func ExampleRowTiming() {
	p := sqlitetrace.New(sqlitetrace.Options{RowTiming: sqlitetrace.RowTimingExact})
	db := p.OpenDB(demo())
	defer db.Close()
	w, err := p.Watch()
	if err != nil {
		fmt.Println(err)
		return
	}
	var n int
	if err := db.QueryRow("rows 1").Scan(&n); err != nil {
		fmt.Println(err)
	}
	r := w.Close()
	for m := range r.Find("tidestaff.db.query.time") {
		fmt.Println(m.Attr(sqlitetrace.AttrPhase))
	}
	// Unordered output:
	// call
	// step
	// close
	// idle
}

// A test can end with a hunt for what it has left open.
func ExampleHeld() {
	p := sqlitetrace.New(sqlitetrace.Options{})
	db := p.OpenDB(demo())
	defer db.Close()
	w, err := p.Watch()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	ctx := probe.WithMethod(probe.WithRole(context.Background(), "request"), "(*Store).ListSandboxes")
	rows, err := db.QueryContext(ctx, "rows 20000")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer rows.Close() // too late for this
	for _, h := range p.Held() {
		fmt.Println(h.Kind, h.Method, h.Role, h.Query)
	}
	// Output: cursor (*Store).ListSandboxes request rows ?
}

// A library that opens further connections by the driver it finds gets watched
// ones.
func ExampleDriverAs() {
	p := sqlitetrace.New(sqlitetrace.Options{DriverAs: sqlitetrace.DriverAsWrapper})
	db := p.OpenDB(demo())
	defer db.Close()
	_, ok := db.Driver().(interface{ Unwrap() driver.Driver })
	fmt.Println(ok)
	// Output: true
}

// Where one connection is all there is, the wait for it is what matters.
func ExampleDB() {
	p := sqlitetrace.New(sqlitetrace.Options{})
	db := p.Wrap(p.OpenDB(demo()))
	defer db.Close()
	db.SetMaxOpenConns(1)
	w, err := p.Watch()
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := probe.WithMethod(probe.WithRole(context.Background(), "request"), "(*Store).Put")
	if _, err := db.ExecContext(ctx, "plain"); err != nil {
		fmt.Println(err)
	}
	r := w.Close()
	for m := range r.Find("tidestaff.db.connection.wait.duration") {
		fmt.Println(m.Attr(probe.AttrMethod), m.Dist.Count(), "call")
	}
	// Output: (*Store).Put 1 call
}

// A test of a service has SQLite's plans looked at, and wants no request to read
// a table from end to end.
func ExamplePlans() {
	p := sqlitetrace.New(sqlitetrace.Options{Plans: sqlitetrace.PlansOnce})
	db := p.OpenDB(demo())
	defer db.Close()
	w, err := p.Watch()
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := db.Exec("rows 1"); err != nil { // in place of the service's requests
		fmt.Println(err)
	}
	scans := 0
	for m := range w.Close().Find("tidestaff.sqlite.full_scans", probe.Attr{Key: probe.AttrRole, Value: "request"}) {
		fmt.Println(m.Attr(probe.AttrMethod), "reads all of", m.Attr(sqlitetrace.AttrTable))
		scans++
	}
	fmt.Println(scans, "full scans")
	// Output: 0 full scans
}
