/* SPDX-License-Identifier: BSD-3-Clause */
/* The switch for x86_64 (System V). Included by switch.h only. */
#ifndef HAULI_CORO_SWITCH_X86_64_H
#define HAULI_CORO_SWITCH_X86_64_H

/* Calls *(rsp) with rdi unchanged; every backtrace ends here. In start_x86_64.S. */
__attribute__((visibility("hidden"))) void hauli_coro_start(void);

#ifdef __AVX512F__
#define HAULI_CLOBBER_AVX512                                                                     \
	, "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24",       \
		"xmm25", "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k0", "k1", "k2", \
		"k3", "k4", "k5", "k6", "k7"
#else
#define HAULI_CLOBBER_AVX512
#endif

#ifdef __APX_F__
#define HAULI_CLOBBER_APX                                                                     \
	, "r16", "r17", "r18", "r19", "r20", "r21", "r22", "r23", "r24", "r25", "r26", "r27", \
		"r28", "r29", "r30", "r31"
#else
#define HAULI_CLOBBER_APX
#endif

/* While the stack pointer is already that of the other context, there is no known caller: an
 * unwinder (a profiler's, in a signal handler) stops instead of following the wrong stack. */
#ifdef __GCC_HAVE_DWARF2_CFI_ASM
#define HAULI_CFI_BETWEEN ".cfi_remember_state\n\t.cfi_undefined rip\n\t"
#define HAULI_CFI_ARRIVED ".cfi_restore_state\n"
#else
#define HAULI_CFI_BETWEEN
#define HAULI_CFI_ARRIVED
#endif

static inline __attribute__((always_inline)) void *hauli_switch(
	struct hauli_ctx *from, struct hauli_ctx *to, void *pass)
{
	/* No push: the caller's red zone stays intact. */
	asm volatile("leaq 1f(%%rip), %%rax\n\t"
		     "movq %%rsp, 0(%%rsi)\n\t"
		     "movq %%rbp, 8(%%rsi)\n\t"
		     "movq %%rax, 16(%%rsi)\n\t"
		     "movq %%rbx, 24(%%rsi)\n\t"
		     "movq 24(%%rdx), %%rbx\n\t"
		     "movq 0(%%rdx), %%rsp\n\t" HAULI_CFI_BETWEEN "movq 8(%%rdx), %%rbp\n\t"
		     "jmpq *16(%%rdx)\n\t" HAULI_CFI_ARRIVED "1:"
		     : "+D"(pass), "+S"(from), "+d"(to)
		     :
		     : "rax", "rcx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "st",
		     "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)", "xmm0", "xmm1",
		     "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
		     "xmm11", "xmm12", "xmm13", "xmm14",
		     "xmm15" HAULI_CLOBBER_AVX512 HAULI_CLOBBER_APX, "cc", "memory");
	return pass;
}

#endif
