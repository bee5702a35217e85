//go:build cgo && !windows

__asm__(
#ifdef __APPLE__
#define NAME(n) "_" #n
#else
#define NAME(n) #n
#endif
	".globl " NAME(callWithFramePointer) "\n"
	NAME(callWithFramePointer) ":\n"
	"push %rbp\n"
	"push %rbx\n"
	"push %rbx\n" // aligns the stack
	"mov %rsi, %rbp\n"
	"call " NAME(goCallback) "\n"
	"pop %rbx\n"
	"pop %rbx\n"
	"pop %rbp\n"
	"ret\n");
