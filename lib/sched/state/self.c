/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The carrier of the calling thread.
 *
 * This is haul's only thread-local variable. The compiler may keep its address, or its value,
 * across a switch after which the coroutine continues on another thread (gcc and clang do so at -O2
 * -fPIC). So hauli_here() is its only reader: an asm (self.h), or a function that is never inlined
 * and that the compiler must assume to have side effects.
 *
 * On a thread that is no carrier the variable points to a stand-in carrier, which runs a stand-in
 * coroutine. Their fields keep every call off its fast path, and the slow path reports the misuse.
 * So a yield, a wait or a spawn on a carrier has at most one test for this.
 */
#include "sched/state/self.h"

#include "sched/state/exceptions.h"

static struct haul_coro nobody = {.flags = {HAULI_FLAG_NOBODY}};

/* Its values send each call to the slow path: a spawn finds HAULI_PATH_SLOW, a poller's cycle finds
 * a timer that is due, and a yield finds exceptions. */
struct haul_carrier hauli_nowhere = {
	.current = &nobody, .cxx = true, .exceptions = &hauli_exceptions_always};

__thread struct haul_carrier *hauli_carrier_of_thread
	__attribute__((tls_model("initial-exec"), visibility("hidden"))) = &hauli_nowhere;

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
}

struct haul_carrier *haul_carrier_self(void)
{
	return hauli_self();
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
