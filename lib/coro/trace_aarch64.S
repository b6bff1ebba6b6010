/* SPDX-License-Identifier: BSD-3-Clause */
/* As trace_x86_64.S; ctx is in x19. */
	.text
	.globl	hauli_trace_from
	.hidden	hauli_trace_from
	.type	hauli_trace_from, %function
hauli_trace_from:
	.cfi_startproc
	.cfi_signal_frame	/* ctx->pc is exact, and not behind a call */
	hint	34		/* bti c: a linker's veneer jumps here */
	stp	x19, x30, [sp, #-16]!
	mov	x19, x0
	.cfi_escape 0x0f, 0x03, 0x83, 0x00, 0x06	/* CFA: what is at [x19] */
	.cfi_escape 0x10, 0x1e, 0x02, 0x83, 0x10	/* x30: saved at [x19, #16] */
	.cfi_escape 0x10, 0x1d, 0x02, 0x83, 0x08	/* x29: saved at [x19, #8] */
	.cfi_escape 0x10, 0x13, 0x02, 0x83, 0x18	/* x19: saved at [x19, #24] */
	mov	x0, x1
	mov	x1, x2
	bl	_Unwind_Backtrace
	ldp	x19, x30, [sp], #16
	ret
	.cfi_endproc
	.size	hauli_trace_from, . - hauli_trace_from

#include "coro/property_aarch64.inc"
