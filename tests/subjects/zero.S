/* Functions in assembler: symbols without a size, and code behind them that is not theirs.
 *
 * SITE is the body of a function: it records a site whose function has the name `name` and starts
 * at `start`. */
#include "site.h"

	.macro DATA mark, name, start, flags, line
	.pushsection .rodata
.Lname\mark:
	.asciz	"\name"
.Lfile\mark:
	.asciz	__FILE__
	.popsection
	.pushsection .data.rel, "aw"
	.balign	8
.Lsite\mark:
	.quad	.Lname\mark, .Lfile\mark
	.long	\line, 0
	.quad	0, \start
	.long	\flags, 0
	.popsection
	.endm

	.macro SITE name, start, flags, line
	DATA	\@, "\name", \start, \flags, \line
#if defined __x86_64__
	sub	$8, %rsp
	lea	.Lsite\@(%rip), %rdi
	call	record
	add	$8, %rsp
	ret
#elif defined __aarch64__
	stp	x29, x30, [sp, -16]!
	adrp	x0, .Lsite\@
	add	x0, x0, :lo12:.Lsite\@
	bl	record
	ldp	x29, x30, [sp], 16
	ret
#endif
	.endm

/* Records the very first byte of some code, which is where the function before it ends. */
	.macro FIRST_BYTE label, start, flags, line
	DATA	\@, "", \start, \flags, \line
#if defined __x86_64__
	lea	.Lsite\@(%rip), %rdi
	lea	(\label + 1)(%rip), %rsi
	call	record_at
#elif defined __aarch64__
	adrp	x0, .Lsite\@
	add	x0, x0, :lo12:.Lsite\@
	adrp	x1, \label + 1
	add	x1, x1, :lo12:(\label + 1)
	bl	record_at
#endif
	.endm

	.macro GO to
#if defined __x86_64__
	call	\to
#elif defined __aarch64__
	bl	\to
#endif
	.endm

	.text
	.type	sized, %function
sized:
	.cfi_startproc
	SITE	sized, sized, 0, __LINE__
	.cfi_endproc
	.size	sized, . - sized

/* What follows a sized function without being part of it: no symbol, no FDE. */
.Lbehind_sized:
	SITE	"", 0, (NAMELESS | NO_FDE), __LINE__

/* Its size is 0, its bounds are the FDE's. */
	.type	zero_with_fde, %function
zero_with_fde:
	.cfi_startproc
	SITE	zero_with_fde, zero_with_fde, 0, __LINE__
	.cfi_endproc

/* Not zero_with_fde, which is the nearest symbol below: another FDE begins here. */
.Lbehind_zero:
	.cfi_startproc
	SITE	"", .Lbehind_zero, NAMELESS, __LINE__
	.cfi_endproc

/* No size and no FDE: it reaches to the next symbol or FDE. */
	.type	zero_without_fde, %function
zero_without_fde:
	SITE	zero_without_fde, 0, NO_FDE, __LINE__

.Lbehind_zero_without_fde:
	.cfi_startproc
	SITE	"", .Lbehind_zero_without_fde, NAMELESS, __LINE__
	.cfi_endproc

/* A mark inside a sized function takes nothing away from it. */
	.type	has_mark, %function
has_mark:
	.cfi_startproc
	nop
mark:
	SITE	has_mark, has_mark, 0, __LINE__
	.cfi_endproc
	.size	has_mark, . - has_mark

/* A label that nobody called a function still names the code behind it. */
untyped:
	.cfi_startproc
	SITE	untyped, untyped, 0, __LINE__
	.cfi_endproc

/* The next symbol ends this one, and that one's own size is 0 too. */
	.type	zero_then_zero, %function
zero_then_zero:
	SITE	zero_then_zero, 0, NO_FDE, __LINE__
	.type	zero_last, %function
zero_last:
	SITE	zero_last, 0, NO_FDE, __LINE__

	.globl	subject_run
	.type	subject_run, %function
subject_run:
	.cfi_startproc
#if defined __x86_64__
	sub	$8, %rsp
#elif defined __aarch64__
	stp	x29, x30, [sp, -16]!
#endif
	GO	sized
	GO	.Lbehind_sized
	GO	zero_with_fde
	GO	.Lbehind_zero
	GO	zero_without_fde
	GO	.Lbehind_zero_without_fde
	GO	has_mark
	GO	untyped
	GO	zero_then_zero
	GO	zero_last
	FIRST_BYTE .Lbehind_sized, 0, (NAMELESS | NO_FDE), __LINE__
	FIRST_BYTE .Lbehind_zero, .Lbehind_zero, NAMELESS, __LINE__
#if defined __x86_64__
	add	$8, %rsp
#elif defined __aarch64__
	ldp	x29, x30, [sp], 16
#endif
	ret
	.cfi_endproc
	.size	subject_run, . - subject_run

	.section .note.GNU-stack, "", %progbits
