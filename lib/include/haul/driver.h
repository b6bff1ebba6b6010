/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pollers: coroutines that look for input, at most one on each carrier.
 *
 * A poller is not in the run queue: its carrier resumes it once per round, and it is never stolen.
 * Its body loops until haul_maybe_yield() returns false:
 *
 *	static void *poll(void *arg)
 *	{
 *		bool io = false;
 *
 *		while (haul_maybe_yield(io))
 *			io = take_what_is_there(arg) > 0;
 *		return NULL;
 *	}
 *
 * This poller spins. A poller that blocks needs a wakeup, a function that ends its wait. A thread
 * with work for the carrier calls the wakeup while the poller is parked, at most once for each
 * park. The wakeup must not take locks, and must also end a wait that begins after it (writing to
 * an eventfd does). The poller enters its wait in three steps, so that it misses nothing:
 *
 *	while (haul_maybe_yield(io)) {
 *		io = take_what_is_there(s) > 0;
 *		if (io || !haul_poller_try_park())
 *			continue;
 *		arm(s);                          ... from now on input ends the wait
 *		io = take_what_is_there(s) > 0;  ... input from before the arming
 *		if (!io && haul_poller_can_park())
 *			wait(s, haul_poller_deadline());
 *		haul_poller_unpark();
 *		disarm(s);
 *	}
 */
#ifndef HAUL_DRIVER_H
#define HAUL_DRIVER_H

#include <haul/base.h>
#include <haul/coro.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Options of a poller. NULL, or a struct of zeros, means the defaults. */
struct haul_poller_opts {
	const char *name; /* as in haul_coro_opts */
	size_t stack_size; /* bytes; 0: 248 KiB. A burst call of a PMD takes up to 17 KiB */
	void (*wakeup)(void *arg); /* gets the arg of fn; NULL: the poller never blocks */
};

/*
 * Starts fn(arg) as the poller of the carrier. poller == NULL: it is detached. Otherwise *poller
 * gets a handle to join or detach; after the join the carrier can have a new poller at once.
 * Coroutines also run on a carrier without a poller. Any thread. Does not suspend. Returns 0;
 * -EBUSY (the carrier has a poller); -ENOMEM; -ECANCELED (the runtime is stopping); -ENOTSUP (it
 * has virtual time); -EINVAL (stack_size is too large); -EPERM (in a
 * child of fork()).
 */
HAUL_API int haul_poller_register(struct haul_carrier *carrier, struct haul_coro **poller,
	haul_fn *fn, void *arg, const struct haul_poller_opts *opts);

/* haul_maybe_yield(), which ends a cycle, is in haul/coro.h. */

/*
 * Calls of a poller that blocks, from the poller only. They do not suspend.
 *
 * haul_poller_try_park: parks the poller: from now on a thread with work for the carrier calls the
 *     wakeup. Returns false, and does not park, if there is work already, the poller has no wakeup,
 *     or it is cancelled.
 * haul_poller_can_park: to be called right before the wait. True if the poller is still parked and
 *     there is no work. The answer expires at the next suspension: a parked poller that suspends is
 *     no longer parked when it resumes.
 * haul_poller_unpark: to be called right after the wait, or instead of it, before the next cycle.
 *     Does nothing if the poller is not parked.
 */
HAUL_API bool haul_poller_try_park(void);
HAUL_API bool haul_poller_can_park(void);
HAUL_API void haul_poller_unpark(void);

/* The time on haul_now()'s clock by which the wait must end, because the carrier's next timer
 * expires; HAUL_FOREVER if no timer is armed. From the poller only. Does not suspend. */
HAUL_API uint64_t haul_poller_deadline(void);

/*
 * For a poller that blocks: a descriptor that becomes readable when calls of haul/fd.h on its
 * carrier can go on, and that haul_poller_try_park() reads; the wait has to end when it is
 * readable. -1: no call has waited yet; so call it before each haul_poller_try_park(). Until a
 * poller has called it, haul_poller_try_park() returns false while calls wait.
 * From the poller only. Does not suspend.
 */
HAUL_API int haul_poller_fd(void);

#ifdef __cplusplus
}
#endif

#endif
