package sqlitetrace

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"testing"
)

// Errors built like those of the three drivers. None of them is imported.
type (
	methodError int // modernc: a method that gives the extended code

	typedError    struct{ code uint16 } // ncruces: methods of types of its own
	typedCode     uint8
	typedExtended uint16

	fieldError struct { // mattn: fields of types of its own
		Code         fieldCode
		ExtendedCode fieldExtended
		err          string
	}
	fieldCode     int
	fieldExtended int

	codeOnly uint8  // a method of one of them alone
	extended int    // a method that says that it is the extended code
	bare     uint16 // ncruces, of what has no message: the extended code itself, and a method for the primary one
	number   int    // no method

	stateError string // PostgreSQL's
)

func (e methodError) Error() string { return "database is locked" }
func (e methodError) Code() int     { return int(e) }

func (e *typedError) Error() string               { return "database is locked" }
func (e *typedError) Code() typedCode             { return typedCode(e.code) }
func (e *typedError) ExtendedCode() typedExtended { return typedExtended(e.code) }

func (e fieldError) Error() string { return e.err }

func (e codeOnly) Error() string     { return "" }
func (e codeOnly) Code() typedCode   { return typedCode(e) }
func (e bare) Error() string         { return "" }
func (e bare) Code() typedCode       { return typedCode(e) }
func (e extended) Error() string     { return "" }
func (e extended) Code() int         { return int(e) & 0xff }
func (e extended) ExtendedCode() int { return int(e) }
func (e number) Error() string       { return "" }

func (e stateError) Error() string    { return "SQLSTATE " + string(e) }
func (e stateError) SQLState() string { return string(e) }

// Errors that have the words and not the meaning.
type (
	stringCode     struct{ Code string }
	argumentMethod struct{}
	embedsNil      struct{ *fieldError }
)

func (stringCode) Error() string            { return "" }
func (argumentMethod) Error() string        { return "" }
func (argumentMethod) ExtendedCode(int) int { return codeBusy }
func (embedsNil) Error() string             { return "" }

func TestClassOf(t *testing.T) {
	expired, cancel := context.WithTimeout(context.Background(), 0)
	defer cancel()
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, tc := range []struct {
		name string
		ctx  context.Context
		err  error
		want class
	}{
		{"none", nil, nil, classNone},
		{"canceled", nil, fmt.Errorf("x: %w", context.Canceled), classCanceled},
		{"deadline", nil, fmt.Errorf("x: %w", context.DeadlineExceeded), classDeadline},
		{"bad connection", nil, fmt.Errorf("x: %w", driver.ErrBadConn), classBadConn},
		{"text alone", nil, errors.New("database is locked (5) (SQLITE_BUSY)"), classOther},
		{"busy by method", nil, methodError(5), classBusy},
		{"busy, recovering", nil, methodError(261), classBusy},
		{"busy snapshot", nil, methodError(517), classBusySnapshot},
		{"locked", nil, methodError(6), classLocked},
		{"locked, shared cache", nil, methodError(262), classLocked},
		{"unique constraint", nil, methodError(2067), classConstraint},
		{"full", nil, methodError(13), classOther},
		{"interrupt", nil, methodError(9), classCanceled},
		{"interrupt by cancelation", canceled, methodError(9), classCanceled},
		{"interrupt by deadline", expired, methodError(9), classDeadline},
		{"typed methods", nil, &typedError{517}, classBusySnapshot},
		{"typed method, primary code", nil, codeOnly(6), classLocked},
		{"both codes by methods", nil, extended(517), classBusySnapshot},
		{"nothing but the extended code", nil, bare(517), classBusySnapshot},
		{"a number", nil, number(5), classOther},
		{"joined, none with a code", nil, errors.Join(errors.New("x"), errors.New("y")), classOther},
		{"nil pointer", nil, (*typedError)(nil), classOther},
		{"fields", nil, fieldError{5, 517, ""}, classBusySnapshot},
		{"field without extended code", nil, fieldError{Code: 19}, classConstraint},
		{"pointer to fields", nil, &fieldError{6, 6, ""}, classLocked},
		{"wrapped", nil, fmt.Errorf("x: %w", fmt.Errorf("y: %w", fieldError{5, 5, ""})), classBusy},
		{"joined", nil, errors.Join(errors.New("x"), &typedError{19}), classConstraint},
		{"code that is no number", nil, stringCode{"5"}, classOther},
		{"method that wants an argument", nil, argumentMethod{}, classOther},
		{"embedded nil pointer", nil, embedsNil{}, classOther},
	} {
		if got := classOf(tc.ctx, systemSQLite, tc.err); got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, classNames[got], classNames[tc.want])
		}
	}
}

func TestClassOfState(t *testing.T) {
	expired, cancel := context.WithTimeout(context.Background(), 0)
	defer cancel()
	for _, tc := range []struct {
		ctx  context.Context
		err  error
		want class
	}{
		{nil, stateError("23505"), classConstraint},
		{nil, fmt.Errorf("x: %w", stateError("55P03")), classLocked},
		{nil, stateError("57014"), classCanceled},
		{expired, stateError("57014"), classDeadline},
		{nil, stateError("42P01"), classOther},
		{nil, stateError(""), classOther},
		{nil, methodError(5), classOther}, // another system's 5 is not SQLite's
	} {
		if got := classOf(tc.ctx, "postgresql", tc.err); got != tc.want {
			t.Errorf("%v: got %q, want %q", tc.err, classNames[got], classNames[tc.want])
		}
	}
}
