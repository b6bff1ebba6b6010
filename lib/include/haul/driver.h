/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pinned pollers: the one coroutine of a carrier that looks for input.
 *
 * A poller sits in a slot of its own outside the run queue, is never stolen, and is resumed
 * once per round of its carrier. Its body is a loop that ends when haul_maybe_yield() says so:
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
 * This poller spins. A poller that blocks has a wakeup, a function that ends its wait. Any thread
 * calls it, so it takes no lock; a wakeup that comes before the wait must end the wait, too (an
 * eventfd does that). It is called only while the poller is parked, and at most once for each park.
 * The way into the wait takes three steps, so that nothing that comes in between is missed:
 *
 *	while (haul_maybe_yield(io)) {
 *		io = take_what_is_there(s) > 0;
 *		if (io || !haul_try_park_poller())
 *			continue;
 *		arm(s);                          ... from here on input ends the wait
 *		io = take_what_is_there(s) > 0;  ... what came before the arming
 *		if (!io && haul_can_park_poller())
 *			wait(s, haul_poller_deadline());
 *		haul_unpark_poller();
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

/* How to register. NULL in place of it, or all zero, means the defaults. */
struct haul_poller_opts {
	const char *name; /* as in haul_coro_opts */
	size_t stack_size; /* 0: 248 KiB; burst calls of PMDs take up to 17 KiB in one frame */
	void (*wakeup)(void *arg); /* ends the wait; gets fn's arg. NULL: the poller never blocks */
};

/*
 * Starts fn(arg) as the poller of carrier. *poller is a coroutine to be joined or detached
 * (may be NULL: detached); its end frees the slot before the joiner wakes, so that a
 * new poller can be registered at once. Coroutines go on without a poller. Any thread; does
 * not suspend. 0, -EBUSY (the carrier has a poller), -ENOMEM, -ECANCELED (stopping), -EINVAL (the
 * carrier or fn is NULL, or stack_size is too large).
 */
HAUL_API int haul_poller_register(struct haul_carrier *carrier, struct haul_coro **poller,
	haul_fn *fn, void *arg, const struct haul_poller_opts *opts);

/*
 * Called by a poller once per cycle: lets the carrier run what is ready, and comes back at
 * once, after a few loads, when nothing is. had_io says whether the cycle found input. False
 * when the poller was asked to end (haul_cancel(), haul_stop()).
 */
HAUL_API bool haul_maybe_yield(bool had_io) HAUL_SUSPENDS;

/*
 * The contract of a poller that blocks; all three from the poller only, and they do not suspend.
 *
 * haul_try_park_poller: true if the poller is parked now: a thread with work for the carrier calls
 * the wakeup from here on. False if there is work already, or if the poller has no wakeup or was
 * asked to end.
 * haul_can_park_poller: called right before the wait; true if the poller is still parked and there
 * is no work. Do not keep the answer: a parked poller that suspends is unparked when it goes on.
 * haul_unpark_poller: called right after the wait, and in any case before the next cycle. Does
 * nothing if the poller is not parked.
 */
HAUL_API bool haul_try_park_poller(void);
HAUL_API bool haul_can_park_poller(void);
HAUL_API void haul_unpark_poller(void);

/* When the wait must end for the carrier's next timer, on haul_now()'s clock; HAUL_FOREVER if no
 * timer is armed. From the poller only. */
HAUL_API uint64_t haul_poller_deadline(void);

#ifdef __cplusplus
}
#endif

#endif
