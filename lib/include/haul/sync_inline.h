/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parts of haul/sync.h that are compiled into programs: a lock and an unlock of a mutex that nobody
 * else wants. haul/sync.h includes this; programs do not.
 *
 * Such a call swaps the first word of the mutex: 0 for the coroutine that runs, and back. If that
 * fails, or must not be, it is a call of the function of the same name in the library, which does
 * all else: waiting, handing over, and the line about a misuse. So is the call of a program that
 * defines HAUL_NO_INLINE before it includes a header, is compiled without optimization or for
 * simulation, or takes the function's address; and of each program if the library has checks or a
 * sanitizer, since haul_inline_here_ shows a coroutine with a flag then.
 */
#ifndef HAUL_SYNC_INLINE_H
#define HAUL_SYNC_INLINE_H

#include <haul/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct haul_mutex;

/* The beginning of what the library has. This layout is part of its ABI. */
struct haul_inline_coro_ {
	uint8_t hidden[56];
	uint16_t flags; /* not 0: all calls of this coroutine go to the library */
};
struct haul_inline_carrier_ {
	struct haul_inline_coro_ *current; /* the coroutine that runs */
};

/* Of the calling thread; never NULL. Read it as haul_inline_self_() does: a coroutine may continue
 * on another thread, and compilers keep the addresses of thread-local variables. */
HAUL_API extern __thread struct haul_inline_carrier_ *haul_inline_here_;

#if defined(__x86_64__) && defined(__LP64__) && defined(__OPTIMIZE__) && \
	!defined(__SANITIZE_THREAD__) && !defined(HAUL_NO_INLINE) && !defined(HAUL_SIMULATED)

/* These definitions are for inlining only: where a call is not inlined, it is one of the library's
 * function. */
#define HAUL_INLINE_ extern __inline __attribute__((__gnu_inline__, __artificial__))
#define HAUL_INLINED_ HAUL_INLINE_ __attribute__((__always_inline__))

HAUL_INLINED_ struct haul_inline_coro_ *haul_inline_self_(void)
{
	struct haul_inline_coro_ *me;

	/* haul takes no carrier from its thread between the last two instructions, which it
	 * knows by the one with %fs. */
	__asm__ __volatile__("movq haul_inline_here_@gottpoff(%%rip), %0\n\t"
			     "movq %%fs:(%0), %0\n\t"
			     "movq (%0), %0" /* current */
			     : "=r"(me)
			     :
			     : "memory");
	return me;
}

/* Of the first word of m, which is all that these calls know of it. */
HAUL_INLINED_ bool haul_inline_swap_(struct haul_mutex *m, uint64_t from, uint64_t to)
{
	typedef uint64_t __attribute__((__may_alias__)) word;

	return __builtin_expect(m != NULL, 1) &&
		__builtin_expect(__atomic_compare_exchange_n((word *)m, &from, to, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED),
			1);
}

/* A coroutine without flags expects 0; one with flags, a number that no mutex has. */
HAUL_INLINED_ bool haul_inline_lock_(struct haul_mutex *m)
{
	struct haul_inline_coro_ *me = haul_inline_self_();

	return haul_inline_swap_(m, me->flags, (uintptr_t)me);
}

/* Makes the address of a function unknown. Else the compiler takes the library's function for the
 * inline function that calls it, and clang makes a loop of that. */
#define HAUL_LIBRARY_S_(fn) __asm__("" : "+r"(fn))

HAUL_INLINE_ void haul_mutex_lock(struct haul_mutex *m)
{
	void (*call)(struct haul_mutex *) = haul_mutex_lock;

	if (haul_inline_lock_(m))
		return;
	HAUL_LIBRARY_S_(call);
	call(m);
}

HAUL_INLINE_ int haul_mutex_lock_by(struct haul_mutex *m, uint64_t deadline)
{
	int (*call)(struct haul_mutex *, uint64_t) = haul_mutex_lock_by;

	if (haul_inline_lock_(m))
		return 0;
	HAUL_LIBRARY_S_(call);
	return call(m, deadline);
}

HAUL_INLINE_ void haul_mutex_unlock(struct haul_mutex *m)
{
	void (*call)(struct haul_mutex *) = haul_mutex_unlock;

	if (haul_inline_swap_(m, (uintptr_t)haul_inline_self_(), 0))
		return;
	HAUL_LIBRARY_S_(call);
	call(m);
}

#undef HAUL_LIBRARY_S_
#undef HAUL_INLINED_
#undef HAUL_INLINE_

#endif

#ifdef __cplusplus
}
#endif

#endif
