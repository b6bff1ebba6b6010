/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Objects that coroutines wait for: mutex, condition, event, semaphore, channel. They may be used
 * by coroutines of all carriers of a process, also while stolen. Waiters are served first come,
 * first served. A mutex, condition, event or semaphore that is all zero is ready for use, owns no
 * memory, and must not be copied or freed while it is in use. Use of freed memory is detected only
 * of a destroyed channel, and by haul_mutex_unlock() if the mutex's holder is no coroutine; other
 * calls may wait for ever, spin or crash.
 *
 * Each call that may wait has a deadline as its last argument: a point of haul_now()'s clock, such
 * as haul_in(5 * HAUL_MS); HAUL_FOREVER: none; 0: does not wait. Such a call returns
 *	0           done
 *	-EAGAIN     it would have had to wait, and the deadline is 0
 *	-ETIMEDOUT  the deadline, or that of an enclosing scope, has passed, and nothing was done
 *	-ECANCELED  the caller is cancelled (haul_cancel()), and nothing was done
 * Exactly one of these: what was done is not undone by a deadline or a cancel at the same time.
 * What needs no wait is done even if the deadline has passed; but a cancelled caller gets
 * -ECANCELED, unless the deadline is 0.
 * The call that ends a wait does not use the object after that: a waiter whose wait has ended may
 * free the object if nobody else uses it.
 * It is called by a coroutine, but not in a burst handler; with deadline 0 by any thread, unless
 * its comment says otherwise.
 */
#ifndef HAUL_SYNC_H
#define HAUL_SYNC_H

#include <haul/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All zero is ready for use. The fields are haul's. */
struct haul_mutex {
	uint64_t hidden[3];
};
struct haul_cond {
	uint64_t hidden[5];
};
struct haul_event {
	uint64_t hidden[5];
};
struct haul_sem {
	uint64_t hidden[3];
};

/*
 * A mutex is held by the coroutine that locked it, which may suspend meanwhile, and which unlocks
 * it. Locking it twice, or unlocking what the caller does not hold, ends the program with a line. A
 * coroutine that ends without the unlock is found by -Dchecks=true only: until then a later one at
 * its address passes for the holder.
 * haul_mutex_lock: waits as long as it takes; a cancel does not end the wait.
 * haul_mutex_lock_by: with a deadline, as above; 0 too needs a coroutine.
 * haul_mutex_unlock: hands the mutex to the first waiter. Does not suspend.
 */
HAUL_API void haul_mutex_lock(struct haul_mutex *m) HAUL_SUSPENDS;
HAUL_API int haul_mutex_lock_by(struct haul_mutex *m, uint64_t deadline) HAUL_SUSPENDS;
HAUL_API void haul_mutex_unlock(struct haul_mutex *m);

/*
 * A condition: coroutines that hold m wait for a change of what m guards.
 * haul_cond_wait: unlocks m, waits, and locks it again, in every case. It needs a coroutine. Wait
 *     in a loop: another coroutine may have had m in between.
 * haul_cond_signal, haul_cond_broadcast: wake the first waiter, or all that wait now. Any thread,
 *     with or without m. Do not suspend. But hold m while changing what waiters look at: a waiter
 *     that has looked, and does not wait yet, would miss the call. A thread that is no carrier
 *     cannot lock m: use an event there.
 */
HAUL_API int haul_cond_wait(
	struct haul_cond *cond, struct haul_mutex *m, uint64_t deadline) HAUL_SUSPENDS;
HAUL_API void haul_cond_signal(struct haul_cond *cond);
HAUL_API void haul_cond_broadcast(struct haul_cond *cond);

/*
 * An event is set or not; all zero, it is not.
 * haul_event_wait: waits until it is set.
 * haul_event_set: wakes all that wait now, also if it is reset before they run. Any thread. Does
 *     not suspend.
 * haul_event_reset: a waiter that resets the event, and then looks for what the setters have done,
 *     misses nothing: it sees it, or its next wait ends at once. Any thread. Does not suspend.
 * haul_event_is_set: any thread. Does not suspend.
 */
HAUL_API int haul_event_wait(struct haul_event *e, uint64_t deadline) HAUL_SUSPENDS;
HAUL_API void haul_event_set(struct haul_event *e);
HAUL_API void haul_event_reset(struct haul_event *e);
HAUL_API bool haul_event_is_set(const struct haul_event *e);

/*
 * A semaphore has units, none if it is all zero.
 * haul_sem_init: gives it n units, before it is used.
 * haul_sem_wait: takes a unit, and waits for one if there is none.
 * haul_sem_post: adds a unit, or hands it to the first waiter. Any thread. Does not suspend.
 */
HAUL_API void haul_sem_init(struct haul_sem *s, uint32_t n);
HAUL_API int haul_sem_wait(struct haul_sem *s, uint64_t deadline) HAUL_SUSPENDS;
HAUL_API void haul_sem_post(struct haul_sem *s);

/*
 * A channel carries values of one size from senders to receivers, in the order of the sends.
 * haul_chan_create: holds up to count values; 0: a send waits for its receiver. *ch is the
 *     caller's. Returns 0; -EINVAL (size is 0 or above HAUL_CHAN_SIZE_MAX, or count is above
 *     HAUL_CHAN_COUNT_MAX); -ENOMEM. Any thread. Does not suspend.
 * haul_chan_send: copies *value into the channel; waits while it is full. -EPIPE: it is closed.
 * haul_chan_recv: copies the oldest value into *value; waits while there is none. -EPIPE: it is
 *     closed, and no value is left.
 * haul_chan_close: ends the waits of senders and receivers; a second close does nothing. Any
 *     thread. Does not suspend.
 * haul_chan_destroy: frees it, with values that were not received. Nobody uses the channel any
 *     more: a call that does ends the program with a line, unless the memory has another use by
 *     then. NULL is allowed. Any thread. Does not suspend.
 */
#define HAUL_CHAN_SIZE_MAX 4096 /* bytes */
#define HAUL_CHAN_COUNT_MAX (1u << 30)
struct haul_chan;
HAUL_API int haul_chan_create(struct haul_chan **ch, size_t size, unsigned count);
HAUL_API int haul_chan_send(
	struct haul_chan *ch, const void *value, uint64_t deadline) HAUL_SUSPENDS;
HAUL_API int haul_chan_recv(struct haul_chan *ch, void *value, uint64_t deadline) HAUL_SUSPENDS;
HAUL_API void haul_chan_close(struct haul_chan *ch);
HAUL_API void haul_chan_destroy(struct haul_chan *ch);

/*
 * Waiting for the first of several: an array of cases, each a call that may wait. One of them is
 * done, the others are not.
 *	int request, reply;
 *	struct haul_case cases[] = {
 *		haul_case_recv(requests, &request),
 *		haul_case_recv(replies, &reply),
 *		haul_case_event(&stop),
 *	};
 *	switch (haul_select(cases, 3, haul_in(HAUL_S))) ...
 * haul_select: returns the index of the case that was done, or -EAGAIN, -ETIMEDOUT, -ECANCELED as
 *     above: then none was done. If several can be done, one is chosen at random. cases[index].err
 *     is what the call of that case would have returned: 0, or -EPIPE of a channel that is closed.
 *     At most HAUL_CASES_MAX cases; an object may be in several.
 * haul_case_recv, haul_case_send: *value is the caller's, and is read or written until
 *     haul_select() returns.
 * haul_case_mutex: the caller holds the mutex then. Needs a coroutine, with deadline 0 too.
 * A case that is all zero is never done; so = (struct haul_case){0} takes one out of an array. The
 * array may be used again, by one call at a time. Any thread makes cases. That does not suspend.
 */
#define HAUL_CASES_MAX 64
struct haul_case {
	int err;
	uint64_t hidden[10]; /* haul's */
};
HAUL_API struct haul_case haul_case_recv(struct haul_chan *ch, void *value);
HAUL_API struct haul_case haul_case_send(struct haul_chan *ch, const void *value);
HAUL_API struct haul_case haul_case_event(struct haul_event *e);
HAUL_API struct haul_case haul_case_sem(struct haul_sem *s);
HAUL_API struct haul_case haul_case_mutex(struct haul_mutex *m);
HAUL_API int haul_select(struct haul_case *cases, unsigned n, uint64_t deadline) HAUL_SUSPENDS;

#ifdef __cplusplus
}
#endif

#include <haul/sync_inline.h>

#endif
