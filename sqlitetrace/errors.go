package sqlitetrace

import (
	"context"
	"database/sql/driver"
	"errors"
	"reflect"
)

// A class is what kind of failure an operation had. The zero class is none.
//
// There is a fixed number of them, so that failures cannot make series without
// bound; an error's text would, since it has the values in it that clash.
type class uint8

const (
	classNone class = iota
	classBusy
	classBusySnapshot
	classLocked
	classConstraint
	classCanceled
	classDeadline
	classBadConn
	classOther
	classes
)

// classNames are the values of the attribute error.type.
var classNames = [classes]string{
	"", "busy", "busy_snapshot", "locked", "constraint", "canceled", "deadline", "bad_conn", "other",
}

// SQLite's result codes (sqlite.org/rescode.html). The lowest byte of an
// extended code is its primary code.
const (
	codeError        = 1 // what has no code of its own
	codeBusy         = 5
	codeLocked       = 6
	codeInterrupt    = 9
	codeConstraint   = 19
	codeBusySnapshot = codeBusy | 2<<8 // a reader that wants to write, too late; no busy handler is asked
)

// classOf says what kind of failure err is. ctx, which may be nil, is that of
// the operation: SQLite reports an interrupt, and ctx knows whether it was a
// deadline. An error that panics when it is asked (a nil pointer) is of class
// other: a probe never takes its host service down.
func classOf(ctx context.Context, system string, err error) (c class) {
	defer func() {
		if recover() != nil {
			c = classOther
		}
	}()
	switch {
	case err == nil:
		return classNone
	case errors.Is(err, context.DeadlineExceeded):
		return classDeadline
	case errors.Is(err, context.Canceled):
		return classCanceled
	case errors.Is(err, driver.ErrBadConn):
		return classBadConn
	case system != systemSQLite:
		return classOfState(ctx, err)
	}
	code, _ := resultCode(err)
	switch {
	case code == codeBusySnapshot:
		return classBusySnapshot
	case code&0xff == codeBusy:
		return classBusy
	case code&0xff == codeLocked:
		return classLocked
	case code&0xff == codeConstraint:
		return classConstraint
	case code&0xff == codeInterrupt:
		return interrupted(ctx)
	}
	return classOther
}

// interrupted is the class of a statement that was stopped on purpose.
func interrupted(ctx context.Context) class {
	if ctx != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return classDeadline
	}
	return classCanceled
}

// classOfState reads SQLSTATE, which PostgreSQL's drivers give by a method.
func classOfState(ctx context.Context, err error) class {
	var e interface{ SQLState() string }
	if !errors.As(err, &e) {
		return classOther
	}
	state := e.SQLState()
	switch {
	case state == "57014": // query_canceled
		return interrupted(ctx)
	case state == "55P03": // lock_not_available
		return classLocked
	case len(state) == 5 && state[:2] == "23": // integrity_constraint_violation
		return classConstraint
	}
	return classOther
}

// resultCode finds SQLite's result code, extended if there is one, in err or in
// what it wraps. One that panics when it is asked has none.
func resultCode(err error) (code int, ok bool) {
	defer func() {
		if recover() != nil {
			code, ok = 0, false
		}
	}()
	for err != nil {
		if code, ok := codeIn(err); ok {
			return code, true
		}
		switch x := err.(type) {
		case interface{ Unwrap() error }:
			err = x.Unwrap()
		case interface{ Unwrap() []error }:
			for _, e := range x.Unwrap() {
				if code, ok := resultCode(e); ok {
					return code, true
				}
			}
			return 0, false
		default:
			return 0, false
		}
	}
	return 0, false
}

// codeIn reads the code of one error: by a method that gives an int (modernc:
// Code, extended), by one that gives a type of the driver's own (ncruces:
// ExtendedCode), or from a field (mattn: ExtendedCode, or Code if that is 0). An
// error that is a number itself and has a method Code, which cuts it short, is
// the extended code (ncruces, for what has no message of its own). No driver is
// imported for it, so all but the first need reflection; only failures come here.
func codeIn(err error) (int, bool) {
	switch e := err.(type) {
	case interface{ ExtendedCode() int }:
		return e.ExtendedCode(), true
	case interface{ Code() int }:
		return e.Code(), true
	}
	v := reflect.ValueOf(err)
	if code, ok := result(v.MethodByName("ExtendedCode")); ok {
		return code, true
	}
	if code, ok := result(v.MethodByName("Code")); ok {
		if isInteger(v.Kind()) {
			return integer(v)
		}
		return code, true
	}
	v = reflect.Indirect(v)
	if v.Kind() != reflect.Struct {
		return 0, false
	}
	// FieldByName panics where the way to the field leads through a nil pointer;
	// resultCode recovers.
	extended, ok := integer(v.FieldByName("ExtendedCode"))
	if ok && extended != 0 {
		return extended, true
	}
	return integer(v.FieldByName("Code"))
}

// result calls a method of no arguments and one result, an integer.
func result(method reflect.Value) (int, bool) {
	if !method.IsValid() || method.Type().NumIn() != 0 || method.Type().NumOut() != 1 || !isInteger(method.Type().Out(0).Kind()) {
		return 0, false
	}
	return integer(method.Call(nil)[0])
}

func isInteger(k reflect.Kind) bool { return k >= reflect.Int && k <= reflect.Uint64 }

func integer(v reflect.Value) (int, bool) {
	switch {
	case !v.IsValid() || !isInteger(v.Kind()):
		return 0, false
	case v.CanInt():
		return int(v.Int()), true
	}
	return int(v.Uint()), true
}
