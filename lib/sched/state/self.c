/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The carrier of the calling thread.
 *
 * This is haul's only thread-local variable, but for a copy for programs. The compiler may keep its
 * address, or its value, across a switch after which the coroutine continues on another thread (gcc
 * and clang do so at -O2 -fPIC). So hauli_here() is its only reader: an asm (self.h), or a function
 * that is never inlined and that the compiler must assume to have side effects.
 *
 * On a thread that is no carrier the variable points to a stand-in carrier, which runs a stand-in
 * coroutine. Their fields keep every call off its fast path, and the slow path reports the misuse.
 * So a yield, a wait or a spawn on a carrier has at most one test for this.
 *
 * The copy is what calls that are compiled into programs read (haul/sync_inline.h). With checks or
 * a sanitizer, which would miss these calls, it always points to the stand-in.
 */
#include "sched/state/self.h"

#include <haul/sync_inline.h>

#include "sched/state/exceptions.h"

static struct haul_coro nobody = {.flags = {HAULI_FLAG_NOBODY}};

/* Its values send each call to the slow path: a spawn finds HAULI_PATH_SLOW, a poller's cycle finds
 * a timer that is due, and a yield finds exceptions. */
struct haul_carrier hauli_nowhere = {
	.current = &nobody, .careful = true, .exceptions = &hauli_exceptions_always};

__thread struct haul_carrier *hauli_carrier_of_thread
	__attribute__((tls_model("initial-exec"), visibility("hidden"))) = &hauli_nowhere;

#define SHOWS_PROGRAMS (!HAUL_CHECKS && !HAULI_ASAN && !HAULI_TSAN)

_Static_assert(
	offsetof(struct haul_carrier, current) == offsetof(struct haul_inline_carrier_, current) &&
		offsetof(struct haul_coro, state) == offsetof(struct haul_inline_coro_, flags),
	"what haul/sync_inline.h declares; hauli_coro_flags_word() reads the same");

__thread struct haul_inline_carrier_ *haul_inline_here_ __attribute__((tls_model("initial-exec"))) =
	(struct haul_inline_carrier_ *)&hauli_nowhere;

#if !defined(__x86_64__) || HAULI_TSAN
__attribute__((noinline)) struct haul_carrier *hauli_here(void)
{
	struct haul_carrier *c = hauli_carrier_of_thread;

	asm volatile("" : "+r"(c) : : "memory");
	return c;
}
#endif

struct haul_carrier *hauli_self(void)
{
	struct haul_carrier *c = hauli_here();

	return c == &hauli_nowhere ? NULL : c;
}

void hauli_self_set(struct haul_carrier *c)
{
	hauli_carrier_of_thread = c ? c : &hauli_nowhere;
	if (SHOWS_PROGRAMS)
		haul_inline_here_ = (struct haul_inline_carrier_ *)hauli_carrier_of_thread;
}

struct haul_coro *hauli_current(void)
{
	struct haul_coro *me = hauli_here()->current;

	return me == &nobody ? NULL : me;
}

struct haul_coro *haul_self(void)
{
	struct haul_coro *me = hauli_current();

	if (me)
		hauli_at_once_pauses(hauli_here());
	return me;
}
