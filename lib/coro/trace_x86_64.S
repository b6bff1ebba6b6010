/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hauli_trace_from(ctx, fn, arg): calls _Unwind_Backtrace(fn, arg). Its call-frame information says
 * that it was called by the suspended context *ctx, in rbx: the caller's stack pointer is
 * ctx->sp, its frame pointer and its program counter are those in ctx. So the unwinder goes on
 * there. (The split stacks of gcc's __morestack are unwound in the same way.)
 */
	.text
	.globl	hauli_trace_from
	.hidden	hauli_trace_from
	.type	hauli_trace_from, @function
hauli_trace_from:
	.cfi_startproc
	.cfi_signal_frame	/* ctx->pc is exact, and not behind a call */
	pushq	%rbx
	movq	%rdi, %rbx
	.cfi_escape 0x0f, 0x03, 0x73, 0x00, 0x06	/* CFA: what is at 0(rbx) */
	.cfi_escape 0x10, 0x10, 0x02, 0x73, 0x10	/* rip: saved at 16(rbx) */
	.cfi_escape 0x10, 0x06, 0x02, 0x73, 0x08	/* rbp: saved at 8(rbx) */
	.cfi_escape 0x10, 0x03, 0x02, 0x73, 0x18	/* rbx: saved at 24(rbx) */
	movq	%rsi, %rdi
	movq	%rdx, %rsi
	callq	_Unwind_Backtrace@PLT
	popq	%rbx
	retq
	.cfi_endproc
	.size	hauli_trace_from, . - hauli_trace_from
	.section .note.GNU-stack, "", @progbits
