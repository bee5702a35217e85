// Package gen is what ent generates, as far as it is on a call chain: a client and
// its transaction, whose methods are exported and call ent's own packages. It is
// written by hand, so that no generator has to run.
package gen

import (
	"context"
	"database/sql/driver"
	"fmt"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"entgo.io/ent/dialect/sql/schema"
	"entgo.io/ent/dialect/sql/sqlgraph"
	"entgo.io/ent/schema/field"
)

// A Client has the operations on accounts.
type Client struct{ driver dialect.Driver }

// NewClient makes a client over ent's driver.
func NewClient(d dialect.Driver) *Client { return &Client{d} }

// A Tx is a client within a transaction.
type Tx struct {
	Client
	tx dialect.Tx
}

// Tx begins a transaction.
func (c *Client) Tx(ctx context.Context) (*Tx, error) {
	tx, err := c.driver.Tx(ctx)
	if err != nil {
		return nil, err
	}
	return &Tx{Client{&txDriver{tx, c.driver.Dialect()}}, tx}, nil
}

// Commit commits.
func (t *Tx) Commit() error { return t.tx.Commit() }

// Rollback rolls back.
func (t *Tx) Rollback() error { return t.tx.Rollback() }

// A txDriver is a transaction that passes for a driver.
type txDriver struct {
	tx      dialect.Tx
	dialect string
}

func (d *txDriver) Exec(ctx context.Context, query string, args, v any) error {
	return d.tx.Exec(ctx, query, args, v)
}

func (d *txDriver) Query(ctx context.Context, query string, args, v any) error {
	return d.tx.Query(ctx, query, args, v)
}

func (d *txDriver) Tx(context.Context) (dialect.Tx, error) { return dialect.NopTx(d), nil }
func (d *txDriver) Dialect() string                        { return d.dialect }
func (d *txDriver) Close() error                           { return nil }

const table = "accounts"

func id() *sqlgraph.FieldSpec { return sqlgraph.NewFieldSpec("id", field.TypeInt64) }

func named(name string) func(*entsql.Selector) {
	return func(s *entsql.Selector) { s.Where(entsql.EQ("name", name)) }
}

// Migrate makes the table, or what it lacks.
func (c *Client) Migrate(ctx context.Context) error {
	m, err := schema.NewMigrate(c.driver)
	if err != nil {
		return err
	}
	return m.Create(ctx, schema.NewTable(table).
		AddPrimary(&schema.Column{Name: "id", Type: field.TypeInt64, Increment: true}).
		AddColumn(&schema.Column{Name: "name", Type: field.TypeString, Unique: true}))
}

// Create adds an account.
func (c *Client) Create(ctx context.Context, name string) error {
	spec := sqlgraph.NewCreateSpec(table, id())
	spec.SetField("name", field.TypeString, name)
	return sqlgraph.CreateNode(ctx, c.driver, spec)
}

// ID is an account's number.
func (c *Client) ID(ctx context.Context, name string) (found int64, err error) {
	err = c.query(ctx, named(name), func(n int64, _ string) { found = n })
	return found, err
}

// Names are the names of all accounts.
func (c *Client) Names(ctx context.Context) (names []string, err error) {
	err = c.query(ctx, func(s *entsql.Selector) { s.OrderBy("name") }, func(_ int64, name string) { names = append(names, name) })
	return names, err
}

func (c *Client) query(ctx context.Context, with func(*entsql.Selector), each func(int64, string)) error {
	spec := sqlgraph.NewQuerySpec(table, []string{"id", "name"}, id())
	spec.Predicate = with
	spec.ScanValues = func([]string) ([]any, error) { return []any{new(entsql.NullInt64), new(entsql.NullString)}, nil }
	spec.Assign = func(_ []string, values []any) error {
		n, nErr := values[0].(driver.Valuer).Value()
		name, nameErr := values[1].(driver.Valuer).Value()
		if nErr != nil || nameErr != nil {
			return fmt.Errorf("%w, %w", nErr, nameErr)
		}
		each(n.(int64), name.(string))
		return nil
	}
	return sqlgraph.QueryNodes(ctx, c.driver, spec)
}

// Rename updates an account, in a transaction of ent's own if there is none.
func (c *Client) Rename(ctx context.Context, from, to string) error {
	number, err := c.ID(ctx, from)
	if err != nil {
		return err
	}
	spec := sqlgraph.NewUpdateSpec(table, []string{"id", "name"}, id())
	spec.Node.ID.Value = number
	spec.SetField("name", field.TypeString, to)
	spec.ScanValues = func([]string) ([]any, error) { return []any{new(entsql.NullInt64), new(entsql.NullString)}, nil }
	spec.Assign = func([]string, []any) error { return nil }
	return sqlgraph.UpdateNode(ctx, c.driver, spec)
}

// Delete removes an account.
func (c *Client) Delete(ctx context.Context, name string) error {
	spec := sqlgraph.NewDeleteSpec(table, id())
	spec.Predicate = named(name)
	_, err := sqlgraph.DeleteNodes(ctx, c.driver, spec)
	return err
}
