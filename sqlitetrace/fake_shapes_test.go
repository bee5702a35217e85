package sqlitetrace_test

import "database/sql/driver"

// The deprecated interfaces of package driver.
type (
	legacyExecer interface {
		Exec(query string, args []driver.Value) (driver.Result, error)
	}
	legacyQueryer interface {
		Query(query string, args []driver.Value) (driver.Rows, error)
	}
	converters interface {
		ColumnConverter(int) driver.ValueConverter
	}
)

// Two bundles, to keep connShapes short.
type (
	allContexts interface {
		driver.StmtExecContext
		driver.StmtQueryContext
	}
	extras interface {
		driver.Pinger
		driver.ConnPrepareContext
		driver.ConnBeginTx
		driver.NamedValueChecker
	}
)

// connShapes makes connections with just the optional interfaces that the
// letters name: E ExecerContext, e Execer, Q QueryerContext, q Queryer,
// R SessionResetter, V Validator, P Pinger, C ConnPrepareContext, B ConnBeginTx,
// N NamedValueChecker. All sixteen combinations of E, Q, R and V are there with
// none and with all of the rest.
var connShapes = map[string]func(c *fakeConn) driver.Conn{
	"": func(c *fakeConn) driver.Conn { return struct{ driver.Conn }{c} },
	"PCBN": func(c *fakeConn) driver.Conn {
		return struct {
			driver.Conn
			extras
		}{c, c}
	},
	"V": func(c *fakeConn) driver.Conn {
		return struct {
			driver.Conn
			driver.Validator
		}{c, c}
	},
	"VPCBN": func(c *fakeConn) driver.Conn {
		return struct {
			driver.Conn
			driver.Validator
			extras
		}{c, c, c}
	},
	"R": func(c *fakeConn) driver.Conn {
		return struct {
			driver.Conn
			driver.SessionResetter
		}{c, c}
	},
	"RPCBN": func(c *fakeConn) driver.Conn {
		return struct {
			driver.Conn
			driver.SessionResetter
			extras
		}{c, c, c}
	},
	"RV": func(c *fakeConn) driver.Conn {
		return struct {
			driver.Conn
			driver.SessionResetter
			driver.Validator
		}{c, c, c}
	},
	"RVPCBN": func(c *fakeConn) driver.Conn {
		return struct {
			driver.Conn
			driver.SessionResetter
			driver.Validator
			extras
		}{c, c, c, c}
	},
	"Q": func(c *fakeConn) driver.Conn {
		return struct {
			driver.Conn
			driver.QueryerContext
		}{c, c}
	},
	"QPCBN": func(c *fakeConn) driver.Conn {
		return struct {
			driver.Conn
			driver.QueryerContext
			extras
		}{c, c, c}
	},
	"QV": func(c *fakeConn) driver.Conn {
		return struct {
			driver.Conn
			driver.QueryerContext
			driver.Validator
		}{c, c, c}
	},
	"QVPCBN": func(c *fakeConn) driver.Conn {
		return struct {
			driver.Conn
			driver.QueryerContext
			driver.Validator
			extras
		}{c, c, c, c}
	},
	"QR": func(c *fakeConn) driver.Conn {
		return struct {
			driver.Conn
			driver.QueryerContext
			driver.SessionResetter
		}{c, c, c}
	},
	"QRPCBN": func(c *fakeConn) driver.Conn {
		return struct {
			driver.Conn
			driver.QueryerContext
			driver.SessionResetter
			extras
		}{c, c, c, c}
	},
	"QRV": func(c *fakeConn) driver.Conn {
		return struct {
			driver.Conn
			driver.QueryerContext
			driver.SessionResetter
			driver.Validator
		}{c, c, c, c}
	},
	"QRVPCBN": func(c *fakeConn) driver.Conn {
		return struct {
			driver.Conn
			driver.QueryerContext
			driver.SessionResetter
			driver.Validator
			extras
		}{c, c, c, c, c}
	},
	"E": func(c *fakeConn) driver.Conn {
		return struct {
			driver.Conn
			driver.ExecerContext
		}{c, c}
	},
	"EPCBN": func(c *fakeConn) driver.Conn {
		return struct {
			driver.Conn
			driver.ExecerContext
			extras
		}{c, c, c}
	},
	"EV": func(c *fakeConn) driver.Conn {
		return struct {
			driver.Conn
			driver.ExecerContext
			driver.Validator
		}{c, c, c}
	},
	"EVPCBN": func(c *fakeConn) driver.Conn {
		return struct {
			driver.Conn
			driver.ExecerContext
			driver.Validator
			extras
		}{c, c, c, c}
	},
	"ER": func(c *fakeConn) driver.Conn {
		return struct {
			driver.Conn
			driver.ExecerContext
			driver.SessionResetter
		}{c, c, c}
	},
	"ERPCBN": func(c *fakeConn) driver.Conn {
		return struct {
			driver.Conn
			driver.ExecerContext
			driver.SessionResetter
			extras
		}{c, c, c, c}
	},
	"ERV": func(c *fakeConn) driver.Conn {
		return struct {
			driver.Conn
			driver.ExecerContext
			driver.SessionResetter
			driver.Validator
		}{c, c, c, c}
	},
	"ERVPCBN": func(c *fakeConn) driver.Conn {
		return struct {
			driver.Conn
			driver.ExecerContext
			driver.SessionResetter
			driver.Validator
			extras
		}{c, c, c, c, c}
	},
	"EQ": func(c *fakeConn) driver.Conn {
		return struct {
			driver.Conn
			driver.ExecerContext
			driver.QueryerContext
		}{c, c, c}
	},
	"EQPCBN": func(c *fakeConn) driver.Conn {
		return struct {
			driver.Conn
			driver.ExecerContext
			driver.QueryerContext
			extras
		}{c, c, c, c}
	},
	"EQV": func(c *fakeConn) driver.Conn {
		return struct {
			driver.Conn
			driver.ExecerContext
			driver.QueryerContext
			driver.Validator
		}{c, c, c, c}
	},
	"EQVPCBN": func(c *fakeConn) driver.Conn {
		return struct {
			driver.Conn
			driver.ExecerContext
			driver.QueryerContext
			driver.Validator
			extras
		}{c, c, c, c, c}
	},
	"EQR": func(c *fakeConn) driver.Conn {
		return struct {
			driver.Conn
			driver.ExecerContext
			driver.QueryerContext
			driver.SessionResetter
		}{c, c, c, c}
	},
	"EQRPCBN": func(c *fakeConn) driver.Conn {
		return struct {
			driver.Conn
			driver.ExecerContext
			driver.QueryerContext
			driver.SessionResetter
			extras
		}{c, c, c, c, c}
	},
	"EQRV": func(c *fakeConn) driver.Conn {
		return struct {
			driver.Conn
			driver.ExecerContext
			driver.QueryerContext
			driver.SessionResetter
			driver.Validator
		}{c, c, c, c, c}
	},
	"EQRVPCBN": func(c *fakeConn) driver.Conn {
		return struct {
			driver.Conn
			driver.ExecerContext
			driver.QueryerContext
			driver.SessionResetter
			driver.Validator
			extras
		}{c, c, c, c, c, c}
	},
	"e": func(c *fakeConn) driver.Conn {
		return struct {
			driver.Conn
			legacyExecer
		}{c, c}
	},
	"q": func(c *fakeConn) driver.Conn {
		return struct {
			driver.Conn
			legacyQueryer
		}{c, c}
	},
	"eq": func(c *fakeConn) driver.Conn {
		return struct {
			driver.Conn
			legacyExecer
			legacyQueryer
		}{c, c, c}
	},
	"Eq": func(c *fakeConn) driver.Conn {
		return struct {
			driver.Conn
			driver.ExecerContext
			legacyQueryer
		}{c, c, c}
	},
	"eQ": func(c *fakeConn) driver.Conn {
		return struct {
			driver.Conn
			legacyExecer
			driver.QueryerContext
		}{c, c, c}
	},
	"EQP": func(c *fakeConn) driver.Conn {
		return struct {
			driver.Conn
			driver.ExecerContext
			driver.QueryerContext
			driver.Pinger
		}{c, c, c, c}
	},
	"EQC": func(c *fakeConn) driver.Conn {
		return struct {
			driver.Conn
			driver.ExecerContext
			driver.QueryerContext
			driver.ConnPrepareContext
		}{c, c, c, c}
	},
	"EQB": func(c *fakeConn) driver.Conn {
		return struct {
			driver.Conn
			driver.ExecerContext
			driver.QueryerContext
			driver.ConnBeginTx
		}{c, c, c, c}
	},
	"EQN": func(c *fakeConn) driver.Conn {
		return struct {
			driver.Conn
			driver.ExecerContext
			driver.QueryerContext
			driver.NamedValueChecker
		}{c, c, c, c}
	},
	"N": func(c *fakeConn) driver.Conn {
		return struct {
			driver.Conn
			driver.NamedValueChecker
		}{c, c}
	},
}

// stmtShapes does the same for statements: C StmtExecContext and
// StmtQueryContext, N NamedValueChecker, V ColumnConverter.
var stmtShapes = map[string]func(s *fakeStmt) driver.Stmt{
	"": func(s *fakeStmt) driver.Stmt { return struct{ driver.Stmt }{s} },
	"C": func(s *fakeStmt) driver.Stmt {
		return struct {
			driver.Stmt
			allContexts
		}{s, s}
	},
	"N": func(s *fakeStmt) driver.Stmt {
		return struct {
			driver.Stmt
			driver.NamedValueChecker
		}{s, s}
	},
	"V": func(s *fakeStmt) driver.Stmt {
		return struct {
			driver.Stmt
			converters
		}{s, s}
	},
	"CN": func(s *fakeStmt) driver.Stmt {
		return struct {
			driver.Stmt
			allContexts
			driver.NamedValueChecker
		}{s, s, s}
	},
	"CV": func(s *fakeStmt) driver.Stmt {
		return struct {
			driver.Stmt
			allContexts
			converters
		}{s, s, s}
	},
	"NV": func(s *fakeStmt) driver.Stmt {
		return struct {
			driver.Stmt
			driver.NamedValueChecker
			converters
		}{s, s, s}
	},
	"CNV": func(s *fakeStmt) driver.Stmt {
		return struct {
			driver.Stmt
			allContexts
			driver.NamedValueChecker
			converters
		}{s, s, s, s}
	},
}
