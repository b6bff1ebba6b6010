/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a coroutine begins: entry(pass), with pass already in its register. It is entered by a
 * jump, with a return address that was not pushed by a call. A call that never returns would shift
 * the CPU's prediction of all returns after it, on whatever stack.
 */
	.text
	.globl	hauli_coro_start
	.hidden	hauli_coro_start
	.type	hauli_coro_start, @function
hauli_coro_start:
	.cfi_startproc
	.cfi_undefined rip	/* no caller: unwinders stop here */
	popq	%rax
	leaq	1f(%rip), %rcx
	movq	%rcx, (%rsp)
	jmpq	*%rax
1:	ud2			/* entry does not return */
	.cfi_endproc
	.size	hauli_coro_start, . - hauli_coro_start
	.section .note.GNU-stack, "", @progbits
