/* SPDX-License-Identifier: BSD-3-Clause */
/* The switch for aarch64 (AAPCS64, Linux). Included by switch.h only. */
#ifndef HAULI_CORO_SWITCH_AARCH64_H
#define HAULI_CORO_SWITCH_AARCH64_H

/* Calls *(sp) with x0 unchanged; every backtrace ends here. In start_aarch64.S. */
__attribute__((visibility("hidden"))) void hauli_coro_start(void);

#ifdef __ARM_FEATURE_SVE
#define HAULI_CLOBBER_SVE                                                                         \
	, "p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9", "p10", "p11", "p12", "p13", \
		"p14", "p15"
#else
#define HAULI_CLOBBER_SVE
#endif

/* As in switch_x86_64.h. */
#ifdef __GCC_HAVE_DWARF2_CFI_ASM
#define HAULI_CFI_BETWEEN ".cfi_remember_state\n\t.cfi_undefined x30\n\t"
#define HAULI_CFI_ARRIVED ".cfi_restore_state\n"
#else
#define HAULI_CFI_BETWEEN
#define HAULI_CFI_ARRIVED
#endif

static inline __attribute__((always_inline)) void *hauli_switch(
	struct hauli_ctx *from, struct hauli_ctx *to, void *pass)
{
	register void *x0 asm("x0") = pass;
	register struct hauli_ctx *x1 asm("x1") = from;
	register struct hauli_ctx *x2 asm("x2") = to;

	/* hint 36 is "bti j": with protected branch targets a jump may land here. x18 is the
	 * platform's register; on Linux it is an ordinary one, so it is clobbered too. */
	asm volatile("adr x9, 1f\n\t"
		     "mov x10, sp\n\t"
		     "stp x10, x29, [x1]\n\t"
		     "stp x9, x19, [x1, 16]\n\t"
		     "ldp x16, x19, [x2, 16]\n\t"
		     "ldp x10, x29, [x2]\n\t" HAULI_CFI_BETWEEN "mov sp, x10\n\t"
		     "br x16\n\t" HAULI_CFI_ARRIVED "1:\n\t"
		     "hint 36"
		     : "+r"(x0), "+r"(x1), "+r"(x2)
		     :
		     : "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14",
		     "x15", "x16", "x17", "x18", "x20", "x21", "x22", "x23", "x24", "x25", "x26",
		     "x27", "x28", "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8",
		     "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19",
		     "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30",
		     "v31" HAULI_CLOBBER_SVE, "cc", "memory");
	return x0;
}

#endif
