/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a frozen coroutine continues (frozen.h): calls *(rbx)(pass, rbx), with pass in rdi. By a
 * jump, as in start_x86_64.S. */
	.text
	.globl	hauli_coro_thaw
	.hidden	hauli_coro_thaw
	.type	hauli_coro_thaw, @function
hauli_coro_thaw:
	.cfi_startproc
	.cfi_undefined rip	/* no caller: unwinders stop here */
	leaq	1f(%rip), %rcx
	movq	%rbx, %rsi
	pushq	%rcx
	jmpq	*(%rbx)
1:	ud2			/* it does not return */
	.cfi_endproc
	.size	hauli_coro_thaw, . - hauli_coro_thaw
	.section .note.GNU-stack, "", @progbits
