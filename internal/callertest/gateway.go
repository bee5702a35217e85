// Package callertest is code that stands between a service and a probe, as an
// object mapper or generated code does, for the tests of who is said to have
// called. No probe passes it over unless it is told to.
package callertest

import (
	"context"
	"database/sql"

	"github.com/tidestaff/tidestaff/probe"
)

// A Gateway is what a service calls instead of its database and its files.
type Gateway struct{ DB *sql.DB }

// Fetch queries the database and reads nothing.
func (g *Gateway) Fetch(ctx context.Context, query string) error {
	rows, err := g.DB.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	return rows.Close()
}

// Write executes a statement in a transaction.
func (g *Gateway) Write(ctx context.Context, query string) error {
	tx, err := g.DB.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, query); err != nil {
		return err
	}
	return tx.Commit()
}

// Load reads a file.
func (g *Gateway) Load(files interface{ ReadFile(string) ([]byte, error) }, name string) ([]byte, error) {
	return files.ReadFile(name)
}

// Label asks who calls.
func (g *Gateway) Label(ctx context.Context, s interface {
	Label(context.Context) *probe.Label
}) *probe.Label {
	return s.Label(ctx)
}
