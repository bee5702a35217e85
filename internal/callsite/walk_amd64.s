//go:build !tidestaff_nofp

#include "textflag.h"

// func walk(from uintptr, buf *uintptr, max int) (hash, root uintptr, n int)
//
// A frame record is two words: the caller's frame pointer and the return
// address. BP is the record of the function that called this one, since a
// frame of size 0 pushes none. Assembly is never preempted asynchronously, and
// nothing here is called, so the stack cannot move meanwhile.
TEXT ·walk(SB), NOSPLIT, $0-48
	MOVQ buf+8(FP), DI
	MOVQ max+16(FP), CX
	MOVQ TLS, R8
	MOVQ 0(R8)(TLS*1), R8 // g
	MOVQ 8(R8), R9        // g.stack.hi
	SUBQ $16, R9          // no record can lie above this
	MOVQ SP, R10          // each record must lie above the one before
	MOVQ from+0(FP), BX
	TESTQ BX, BX
	CMOVQEQ BP, BX
	MOVQ $0x9E3779B97F4A7C15, R11
	XORL AX, AX           // hash
	XORL SI, SI           // root
	XORL DX, DX           // n

next:
	CMPQ BX, R10
	JLS  done
	CMPQ BX, R9
	JHI  done
	TESTQ $7, BX
	JNE  done
	CMPQ DX, CX
	JGE  done
	MOVQ 8(BX), R12       // return address
	ROLQ $29, AX
	XORQ R12, AX
	IMULQ R11, AX
	TESTQ DI, DI
	JEQ  kept
	MOVQ R12, (DI)(DX*8)

kept:
	INCQ DX
	MOVQ BX, R10
	MOVQ (BX), BX         // the caller's record; 0 in a goroutine's first frame
	TESTQ BX, BX
	JNE  next
	MOVQ R12, SI

done:
	MOVQ AX, hash+24(FP)
	MOVQ SI, root+32(FP)
	MOVQ DX, n+40(FP)
	RET
