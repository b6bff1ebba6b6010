/* SPDX-License-Identifier: BSD-3-Clause */
/* Work and data of each carrier. */
#ifndef HAUL_CARRIER_H
#define HAUL_CARRIER_H

#include <haul/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Runs fn(arg) on each carrier of rt, in a pinned coroutine there, and waits until all have
 * returned; neither a cancel nor a deadline ends this wait. By a coroutine of any runtime, also one
 * that is a poller, or by a thread that is no carrier. Returns 0; the first error that fn returned,
 * in the order of the carriers; or, if fn could not be started on one of them, and runs only on
 * those before it: -ENOMEM, -ECANCELED (rt is being stopped; haul_stop() returns after the calls
 * that are under way), -EPERM (in a child of fork()). A carrier does not begin fn while another
 * coroutine computes there without a yield.
 */
HAUL_API int haul_on_each(struct haul_runtime *rt, int (*fn)(void *arg), void *arg) HAUL_SUSPENDS;

/*
 * A value of each carrier, such as a cache or a counter that needs no lock:
 *
 *	static struct haul_local hits = HAUL_LOCAL(free);
 *
 * The variable is static, and must stay until all runtimes have been stopped. At most
 * HAUL_LOCALS_MAX of a process are used.
 */
#define HAUL_LOCALS_MAX 32

struct haul_local {
	void (*release)(void *value); /* NULL: nothing to do */
	uint64_t hidden;
};

#define HAUL_LOCAL(release) \
	{                   \
		release, 0  \
	}

/*
 * haul_local_get: the value of the carrier whose thread makes the call; NULL if none was set, and
 *     on other threads. A few instructions. Where carriers steal, a coroutine that is not pinned
 *     may be on another carrier after each suspension.
 * haul_local_set: sets it. What was set before is the caller's. Returns 0; -EPERM (the thread is no
 *     carrier); -ENOSPC (HAUL_LOCALS_MAX others are used).
 * When a carrier ends, its thread calls release(value) for each value that is not NULL, after its
 * coroutines have ended; again, up to four times, if a release has set others. A release must not
 * suspend, nor do the two functions.
 */
HAUL_API void *haul_local_get(const struct haul_local *key);
HAUL_API int haul_local_set(struct haul_local *key, void *value);

/*
 * Until the end of the block the caller must not suspend: for code that changes data of its
 * carrier, which others on the carrier must not see half changed. A call inside it that suspends,
 * or might have to, ends the program with a line that names this source line; haul_send() only if
 * it has to wait, or in a library built with -Dchecks=true. Such blocks nest. On a thread that is
 * no carrier: does nothing. Does not suspend. haul_carrier_stats.no_suspends counts them.
 */
#define HAUL_NO_SUSPEND()                                             \
	struct haul_no_suspend HAUL_NAME_(haul_no_suspend_, __LINE__) \
		__attribute__((cleanup(haul_no_suspend_end)));        \
	haul_no_suspend_begin(                                        \
		&HAUL_NAME_(haul_no_suspend_, __LINE__), __FILE__ ":" HAUL_TEXT_(__LINE__))

/* The fields are haul's. */
struct haul_no_suspend {
	uint64_t hidden[4];
};

HAUL_API void haul_no_suspend_begin(struct haul_no_suspend *s, const char *where);
HAUL_API void haul_no_suspend_end(struct haul_no_suspend *s);

#ifdef __cplusplus
}
#endif

#endif
