package sqlitetrace

import (
	"context"
	"database/sql/driver"
)

// The interfaces whose mere presence changes what database/sql does:
//
//   - Without ExecerContext it prepares, and converts arguments by the
//     statement's own checker. An ExecContext that always answers ErrSkip is not
//     the same: arguments are then converted twice, first without a statement.
//     QueryerContext likewise.
//   - A connection with both SessionResetter and Validator is kept when a
//     context ends a transaction, any other is thrown away; and with it, the
//     database, if that is in memory.
type (
	hasExec     struct{ c *conn }
	hasQuery    struct{ c *conn }
	hasReset    struct{ c *conn }
	hasValidate struct{ c *conn }
)

// ExecContext implements [driver.ExecerContext].
func (h hasExec) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return h.c.exec(ctx, query, args)
}

// QueryContext implements [driver.QueryerContext].
func (h hasQuery) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return h.c.query(ctx, query, args)
}

// ResetSession implements [driver.SessionResetter].
func (h hasReset) ResetSession(ctx context.Context) error {
	return h.c.resetter.ResetSession(h.c.served(ctx))
}

// IsValid implements [driver.Validator].
func (h hasValidate) IsValid() bool { return h.c.validator.IsValid() }

// Each of the following structs embeds *conn for what is always there. None of
// the embedded fields has the name of a method that it brings, which would hide
// the method.

// exact gives c the interfaces that its original has, and no others: one of the
// sixteen combinations.
func (c *conn) exact() driver.Conn {
	e, q, r, v := hasExec{c}, hasQuery{c}, hasReset{c}, hasValidate{c}
	canExec := c.execer != nil || c.legacyExecer != nil
	canQuery := c.queryer != nil || c.legacyQueryer != nil
	switch [4]bool{canExec, canQuery, c.resetter != nil, c.validator != nil} {
	case [4]bool{true, true, true, true}:
		return struct {
			*conn
			hasExec
			hasQuery
			hasReset
			hasValidate
		}{c, e, q, r, v}
	case [4]bool{true, true, true, false}:
		return struct {
			*conn
			hasExec
			hasQuery
			hasReset
		}{c, e, q, r}
	case [4]bool{true, true, false, true}:
		return struct {
			*conn
			hasExec
			hasQuery
			hasValidate
		}{c, e, q, v}
	case [4]bool{true, true, false, false}:
		return struct {
			*conn
			hasExec
			hasQuery
		}{c, e, q}
	case [4]bool{true, false, true, true}:
		return struct {
			*conn
			hasExec
			hasReset
			hasValidate
		}{c, e, r, v}
	case [4]bool{true, false, true, false}:
		return struct {
			*conn
			hasExec
			hasReset
		}{c, e, r}
	case [4]bool{true, false, false, true}:
		return struct {
			*conn
			hasExec
			hasValidate
		}{c, e, v}
	case [4]bool{true, false, false, false}:
		return struct {
			*conn
			hasExec
		}{c, e}
	}
	return c.exactWithoutExec(canQuery)
}

// exactWithoutExec is exact for the eight combinations without ExecerContext.
func (c *conn) exactWithoutExec(canQuery bool) driver.Conn {
	q, r, v := hasQuery{c}, hasReset{c}, hasValidate{c}
	switch [3]bool{canQuery, c.resetter != nil, c.validator != nil} {
	case [3]bool{true, true, true}:
		return struct {
			*conn
			hasQuery
			hasReset
			hasValidate
		}{c, q, r, v}
	case [3]bool{true, true, false}:
		return struct {
			*conn
			hasQuery
			hasReset
		}{c, q, r}
	case [3]bool{true, false, true}:
		return struct {
			*conn
			hasQuery
			hasValidate
		}{c, q, v}
	case [3]bool{true, false, false}:
		return struct {
			*conn
			hasQuery
		}{c, q}
	case [3]bool{false, true, true}:
		return struct {
			*conn
			hasReset
			hasValidate
		}{c, r, v}
	case [3]bool{false, true, false}:
		return struct {
			*conn
			hasReset
		}{c, r}
	case [3]bool{false, false, true}:
		return struct {
			*conn
			hasValidate
		}{c, v}
	}
	return c
}
