package drive

import (
	"context"
	"errors"
	"io"
	"net"
	"runtime"
	"syscall"
)

// Class is the class of a failure, the value of error.type.
type Class string

// The classes of failures.
const (
	ClassTimeout  Class = "timeout"       // a deadline passed, the operation's or a connection's
	ClassRefused  Class = "refused"       // nobody listens there
	ClassEarlyEnd Class = "early-end"     // the body or the connection ended before the answer was whole
	ClassWrong    Class = "wrong-content" // an answer came and was not right
	ClassCanceled Class = "canceled"      // the end of the run cut it off
	ClassOther    Class = "other"         // anything else
)

// wrongError marks content that a script checked.
type wrongError struct{ error }

func (e wrongError) Unwrap() error { return e.error }

var classes = [...]Class{ClassTimeout, ClassRefused, ClassEarlyEnd, ClassWrong, ClassCanceled, ClassOther}

// Wrong marks err as an answer that came whole and was not right.
func Wrong(err error) error {
	if err == nil {
		return nil
	}
	return wrongError{err}
}

// earlyEndError marks a body that ended early.
type earlyEndError struct{ error }

func (e earlyEndError) Unwrap() error { return e.error }

// wsaRefused is what Windows calls ECONNREFUSED: WSAECONNREFUSED, which
// package syscall does not match with its own constant.
const wsaRefused = syscall.Errno(10061)

// Classify returns the class of an error of an operation, "" for nil.
func Classify(err error) Class {
	var wrong wrongError
	var early earlyEndError
	var network net.Error
	var errno syscall.Errno
	switch {
	case err == nil:
		return ""
	case errors.As(err, &wrong):
		return ClassWrong
	case errors.Is(err, context.Canceled), errors.Is(err, errCap), errors.Is(err, errCanceled):
		return ClassCanceled
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return ClassTimeout
	case errors.As(err, &errno) && (errno == syscall.ECONNREFUSED || runtime.GOOS == "windows" && errno == wsaRefused):
		return ClassRefused
	case errors.As(err, &early), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return ClassEarlyEnd
	}
	return ClassOther
}
