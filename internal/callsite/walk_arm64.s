//go:build !tidestaff_nofp

#include "textflag.h"

// func walk(from uintptr, buf *uintptr, max int) (hash, root uintptr, n int)
//
// As on amd64, but a record lies just below its frame: R29 is RSP-8 of the
// function that called this one, with the return address at RSP.
TEXT ·walk(SB), NOSPLIT, $0-48
	MOVD buf+8(FP), R0
	MOVD max+16(FP), R1
	MOVD 8(g), R2         // g.stack.hi
	SUB  $16, R2          // no record can lie above this
	MOVD RSP, R3
	SUB  $16, R3          // each record must lie above the one before
	MOVD from+0(FP), R4
	CMP  $0, R4
	CSEL EQ, R29, R4, R4
	MOVD $0x9E3779B97F4A7C15, R8
	MOVD ZR, R5           // hash
	MOVD ZR, R9           // root
	MOVD ZR, R6           // n

next:
	CMP  R3, R4
	BLS  done
	CMP  R2, R4
	BHI  done
	TST  $7, R4
	BNE  done
	CMP  R1, R6
	BGE  done
	MOVD 8(R4), R7        // return address
	ROR  $35, R5, R5      // left by 29
	EOR  R7, R5, R5
	MUL  R8, R5, R5
	CBZ  R0, kept
	MOVD R7, (R0)(R6<<3)

kept:
	ADD  $1, R6
	MOVD R4, R3
	MOVD (R4), R4         // the caller's record; 0 in a goroutine's first frame
	CBNZ R4, next
	MOVD R7, R9

done:
	MOVD R5, hash+24(FP)
	MOVD R9, root+32(FP)
	MOVD R6, n+40(FP)
	RET
