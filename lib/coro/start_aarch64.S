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

/* Declares that branch targets are marked (NT_GNU_PROPERTY_TYPE_0, AARCH64_FEATURE_1_AND: BTI). An
 * object file without this turns the protection off for the whole program. */
	.section .note.gnu.property, "a", %note
	.p2align 3
	.word	4, 16, 5
	.asciz	"GNU"
	.word	0xc0000000, 4, 1, 0
	.section .note.GNU-stack, "", %progbits
