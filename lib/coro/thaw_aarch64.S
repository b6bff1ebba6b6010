/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a frozen coroutine continues (frozen.h): calls *(x19)(pass, x19), with pass in x0. */
	.text
	.globl	hauli_coro_thaw
	.hidden	hauli_coro_thaw
	.type	hauli_coro_thaw, %function
	.p2align 2
hauli_coro_thaw:
	.cfi_startproc
	.cfi_undefined x30	/* no caller: unwinders stop here */
	hint	38		/* bti jc: the switch jumps here */
	mov	x1, x19
	ldr	x16, [x19]
	blr	x16
	brk	#0		/* it does not return */
	.cfi_endproc
	.size	hauli_coro_thaw, . - hauli_coro_thaw

#include "coro/property_aarch64.inc"
