/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a coroutine begins: calls entry(pass), with pass already in its register. */
	.text
	.globl	hauli_coro_start
	.hidden	hauli_coro_start
	.type	hauli_coro_start, @function
hauli_coro_start:
	.cfi_startproc
	.cfi_undefined rip	/* no caller: unwinders stop here */
	call	*(%rsp)
	ud2			/* entry does not return */
	.cfi_endproc
	.size	hauli_coro_start, . - hauli_coro_start
	.section .note.GNU-stack, "", @progbits
