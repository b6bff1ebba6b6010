/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a coroutine begins: calls entry(pass), with pass already in its register. */
	.text
	.globl	hauli_coro_start
	.hidden	hauli_coro_start
	.type	hauli_coro_start, %function
	.p2align 2
hauli_coro_start:
	.cfi_startproc
	.cfi_undefined x30	/* no caller: unwinders stop here */
	hint	38		/* bti jc: the switch jumps here */
	ldr	x16, [sp]
	blr	x16
	brk	#0		/* entry does not return */
	.cfi_endproc
	.size	hauli_coro_start, . - hauli_coro_start

#include "coro/property_aarch64.inc"
