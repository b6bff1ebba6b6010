/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Yields that the compiler places. Code that is compiled with haul's plugin for gcc counts down at
 * the end of each iteration of a loop, and at the beginning of a function that calls itself. Now
 * and then the count ends in a look at the clock, and then, as haul_maybe_yield() does, the
 * coroutine yields if the carrier's coroutines have run without a break for
 * haul_runtime_opts.poll_interval_ns. So a long computation holds up nobody, without a call in its
 * loops. What the flags are, what it costs and what it must not be used for: the guide
 * "Placed yields".
 *
 * Such a yield differs from haul_maybe_yield(): the coroutine stays on its thread, so that the
 * compiler may keep addresses of thread-local variables, such as that of errno, across it, and
 * errno stays. A stolen coroutine does not yield. (A carrier that is rescued,
 * haul_runtime_opts.rescue_after_ns, changes its thread, and its coroutines with it.)
 *
 * Where a yield is not safe, nothing happens: in burst handlers, sources and pollers, in blocks of
 * HAUL_NO_SUSPEND(), in a slice that has used a local, and where a function that was compiled
 * without the plugin has called the present one, as qsort() calls its comparison.
 *
 * A yield needs 4 KiB of the stack of the coroutine.
 */
#ifndef HAUL_PLACED_H
#define HAUL_PLACED_H

#include <haul/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A function with this attribute gets no yields, and nothing that it calls yields, as if the plugin
 * had not been there. Loops that others inline from it get none either. */
#define HAUL_NO_PLACED_YIELDS __attribute__((no_instrument_function))

/* The two names that the plugin knows; programs do not use them. What is left of the count; and the
 * look at the clock, when nothing is left. Any thread. Suspends as described above. */
HAUL_API extern __thread int haul_placed_left_;
HAUL_API void haul_placed_yield_(void) HAUL_SUSPENDS;

#ifdef __cplusplus
}
#endif

#endif
