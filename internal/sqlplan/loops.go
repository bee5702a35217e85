package sqlplan

// loop tells what the loop is that ends at this address, with a Next or Prev
// whose p2 is the first op of its body.
func (p program) loop(at int) Class {
	next := p.ops[at]
	if next.p2 <= 0 || next.p2 > at || !p.fromEnd(next) {
		return Unknown
	}
	if p.buildsIndex(next.p2, at) {
		return AutoIndex
	}
	if p.limited(next.p2, at) {
		return Limited
	}
	return Scan
}

// fromEnd tells whether what placed the cursor last before the loop put it on
// the first or last row, and not on a row that it sought.
func (p program) fromEnd(next op) bool {
	for at := next.p2 - 1; at >= 0; at-- {
		if o := p.ops[at]; o.p1 == next.p1 {
			switch o.code {
			case "Rewind", "Last":
				return true
			case "SeekGE", "SeekGT", "SeekLE", "SeekLT", "SeekRowid":
				return false
			}
		}
	}
	return false
}

func (p program) opens(code string, cursor int) bool {
	for _, o := range p.ops {
		if o.code == code && o.p1 == cursor {
			return true
		}
	}
	return false
}

// buildsIndex tells whether the loop from first to last-1 fills an automatic
// index, itself and not by a loop within it.
func (p program) buildsIndex(first, last int) bool {
	for at := last - 1; at >= first; at-- {
		switch o := p.ops[at]; o.code {
		case "Next", "Prev":
			if o.p2 > first && o.p2 < at {
				at = o.p2 // over the inner loop
			}
		case "IdxInsert":
			if p.opens("OpenAutoindex", o.p1) {
				return true
			}
		}
	}
	return false
}

// limited tells whether the loop from first to last-1 leaves after a number of
// rows that does not depend on what is in them. It must know every op of the
// body; where it does not, the loop counts as a whole scan.
func (p program) limited(first, last int) bool {
	exit := p.exit(first, last)
	if exit < 0 {
		return false
	}
	for at := first; at < exit; at++ {
		o := p.ops[at]
		switch {
		case plain[o.code], o.code == "Yield" && o.p2 == 0: // hands the row to who reads the subquery
		case (branches[o.code] || ends[o.code]) && o.p2 > last: // out of the loop
		case o.code == "IfPos" && o.p2 == last: // OFFSET, a count as well
		case o.code == "SeekRowid" && o.p2 == last: // the other side of a join
		case (o.code == "Goto" || branches[o.code]) && o.p2 > at && o.p2 <= exit: // a CASE
		default:
			return false
		}
	}
	return true
}

// exit finds the op of the loop that counts rows down and leaves it, or leaves
// after the first row, as max() does. It returns -1 if there is none.
func (p program) exit(first, last int) int {
	for at := first; at < last; at++ {
		o := p.ops[at]
		out := o.p2 > last
		if o.code == "DecrJumpZero" && out && !p.endless(o.p1) || o.code == "Goto" && out && at == last-1 {
			return at
		}
	}
	return -1
}

// endless tells whether a LIMIT's register starts negative, which is no limit.
func (p program) endless(register int) bool {
	for _, o := range p.ops {
		if o.code == "Integer" && o.p2 == register {
			return o.p1 < 0
		}
	}
	return false
}

// plain are the ops that neither jump nor move a cursor.
var plain = set("Column", "Rowid", "IdxRowid", "DeferredSeek", "ResultRow", "Copy", "SCopy", "IntCopy", "Move",
	"Integer", "Int64", "Real", "String8", "Blob", "Null", "SoftNull", "Variable", "RealAffinity", "Affinity", "Cast",
	"MakeRecord", "CollSeq", "Function", "PureFunc", "AggStep", "Add", "Subtract", "Multiply", "Divide", "Remainder",
	"Concat", "BitAnd", "BitOr", "BitNot", "ShiftLeft", "ShiftRight", "And", "Or", "Not", "IsTrue", "ZeroOrNull", "Noop")

// branches are the ops that may jump to p2 for what is in a register.
var branches = set("If", "IfNot", "IsNull", "NotNull", "Eq", "Ne", "Lt", "Le", "Gt", "Ge", "IfNullRow", "Once")

// ends are the ops that compare the row under a cursor with a key.
var ends = set("IdxGT", "IdxGE", "IdxLT", "IdxLE")

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}
