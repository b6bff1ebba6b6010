/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A mutex. The value of its word is the coroutine that holds it, or 0. An unlock with waiters hands
 * the mutex to the first: nobody comes between, so the order is that of arrival, and a waiter that
 * was handed it cannot lose it to a deadline.
 *
 * A waiter on a carrier with nothing else to run spins for up to 2 us before it suspends, if the
 * holder is another carrier's and that has paid lately (spin.h). It is in the list like the others,
 * so the order is the same.
 *
 *	waiter                              unlock
 *	enters the list, SPINS              takes it out of the list
 *	looks at the word; gives up:        the mutex is the waiter's; releases the lock
 *	SPINS -> WAITS, or it is SERVED     exchanges the word for SERVED: it was SPINS, and this
 *	                                    is the last access to the waiter; or WAITS: wakes it
 *
 * Both are read-modify-writes of one word (conc/word.h, handoff), so either the unlock finds WAITS
 * and wakes the waiter, which waits for that (block.c), or the waiter finds SERVED and does not
 * suspend. What the unlock wrote before is seen by word.E6.
 *
 * Model: tests/model/sync_mutex.c, sync_mutex_spin.c. Stress: tests/stress/sync.c.
 */
#define HAUL_NO_INLINE /* here are the functions */
#include "sync/mutex.h"

#include "sched/look/crash.h"
#include "sched/state/held.h"
#include "sched/wait/suspend.h"
#include "sync/case.h"
#include "sync/spin.h"

#define NULL_MUTEX "the mutex is NULL"

_Static_assert(HAULI_BLOCK_MUTEX_FLAGS == HAULI_WAITQ_UNIT - 1, "what a dump masks");

static inline uint64_t value_of(const struct haul_coro *co)
{
	return (uintptr_t)co;
}

static __attribute__((noreturn)) void waits_for_itself(
	const struct hauli_waitq *q, const char *call)
{
	/* With checks no coroutine ends while it holds a mutex, so the holder is the caller
	 * itself. */
	if (HAUL_CHECKS)
		hauli_misuse(call, "mutex %p is held by the caller: it would wait for itself",
			(const void *)q);
	hauli_misuse(call,
		"mutex %p is held by the caller, which would wait for itself, or by an earlier "
		"coroutine at its address, which ended without an unlock; libhaul with "
		"-Dchecks=true ends the program at such an end",
		(const void *)q);
}

/* w, which has entered the list of a mutex, spins. True: it was handed the mutex. */
static __attribute__((noinline)) bool spin(struct haul_carrier *c, struct hauli_sync_wait *w)
{
	bool served;

	hauli_sync_spin(c, &w->handoff);
	served = !hauli_handoff_give_up(&w->handoff);
	hauli_spin_learn(&c->wait.spin, served);
	return served;
}

/* A mutex that a coroutine of this carrier holds is not unlocked while the caller spins. */
static inline bool may_spin(struct haul_carrier *c, uint64_t holder)
{
	return hauli_unlikely(hauli_coro_home((const struct haul_coro *)(uintptr_t)holder) != c) &&
		hauli_sync_may_spin(c);
}

/* For a call that has not got m at once. */
static inline __attribute__((always_inline)) int lock_slow(struct haul_mutex *m,
	struct haul_coro *me, uint64_t deadline, bool cancellable, const char *call,
	struct hauli_sync_wait *w)
{
	struct hauli_waitq *q = (struct hauli_waitq *)m;
	struct haul_carrier *c = hauli_here();
	uint64_t holder;
	bool spins;
	int err;

	if (hauli_unlikely(!m))
		hauli_misuse(call, NULL_MUTEX);
	err = hauli_block_check(c, me, call, cancellable && deadline != 0);
	if (hauli_unlikely(err))
		return err;
	holder = hauli_waitq_lock(q);
	if (holder == 0) {
		hauli_waitq_unlock(q, value_of(me));
		hauli_held_add(me, 1);
		return 0;
	}
	if (hauli_unlikely(holder == value_of(me)))
		waits_for_itself(q, call);
	if (deadline == 0) {
		hauli_waitq_unlock(q, holder);
		return -EAGAIN;
	}
	hauli_waitq_enter(&q->list, w, deadline, cancellable);
	hauli_waitq_is_for(w, hauli_block_mutex, q);
	spins = may_spin(c, holder);
	hauli_handoff_init(&w->handoff, spins);
	hauli_waitq_unlock(q, holder);
	if (hauli_unlikely(spins) && spin(c, w))
		return 0;
	return hauli_waitq_wait(q, w, hauli_waitq_leave);
}

/* True: me, the running coroutine, has locked m. One with a flag takes the slow path, also if m is
 * free. Needs no stack frame: only a call that waits has a waiter in it. */
static inline bool lock_at_once(struct haul_mutex *m, struct haul_coro *me)
{
	struct hauli_waitq *q = (struct hauli_waitq *)m;

	if (hauli_unlikely(!m) ||
		hauli_unlikely(
			!hauli_lockword_swap(&q->word, hauli_coro_flags_word(me), value_of(me))))
		return false;
	hauli_held_add(me, 1);
	return true;
}

void hauli_mutex_lock(struct haul_mutex *m, struct hauli_sync_wait *w)
{
	struct haul_coro *me = hauli_here()->current;

	if (!lock_at_once(m, me))
		(void)lock_slow(m, me, HAUL_FOREVER, false, "haul_mutex_lock", w);
}

int hauli_mutex_lock_by(struct haul_mutex *m, uint64_t deadline, struct hauli_sync_wait *w)
{
	struct haul_coro *me = hauli_here()->current;

	return lock_at_once(m, me) ? 0 : lock_slow(m, me, deadline, true, "haul_mutex_lock_by", w);
}

static __attribute__((noinline)) int lock_or_wait(struct haul_mutex *m, struct haul_coro *me,
	uint64_t deadline, bool cancellable, const char *call)
{
	struct hauli_sync_wait w;

	return lock_slow(m, me, deadline, cancellable, call, &w);
}

/* The call before this is no tail call: a call stack of a coroutine that waits shows the function
 * that the user has called. */
static inline void stay_on_stack(void)
{
	__asm__ volatile("");
}

void haul_mutex_lock(struct haul_mutex *m)
{
	struct haul_coro *me = hauli_here()->current;

	if (lock_at_once(m, me))
		return;
	(void)lock_or_wait(m, me, HAUL_FOREVER, false, __func__);
	stay_on_stack();
}

int haul_mutex_lock_by(struct haul_mutex *m, uint64_t deadline)
{
	struct haul_coro *me = hauli_here()->current;
	int err;

	if (lock_at_once(m, me))
		return 0;
	err = lock_or_wait(m, me, deadline, true, __func__);
	stay_on_stack();
	return err;
}

#define RULE "; the coroutine that locked it unlocks it"

/* What is wrong when the caller does not hold the mutex. */
static const char *mistake_of(const struct hauli_waitq *q, uint64_t holder)
{
	enum hauli_about about;

	if (holder == 0)
		return "is not locked" RULE;
	about = hauli_crash_about((const struct haul_coro *)(uintptr_t)holder, "the holder");
	/* Otherwise that coroutine has unlocked the mutex meanwhile, and may have ended. */
	if (hauli_waitq_value(hauli_lockword_get(&q->word)) == holder) {
		if (about == HAULI_ABOUT_NONE)
			return "was freed or overwritten, or its holder's runtime has stopped";
		if (about == HAULI_ABOUT_ENDED)
			return "is held by a coroutine that has ended" RULE;
	}
	return "is held by another coroutine" RULE;
}

/* Called with q locked, in an unlock of a mutex that the caller does not hold. */
static __attribute__((noreturn, cold)) void is_not_held(struct hauli_waitq *q, uint64_t holder)
{
	hauli_waitq_unlock(q, holder);
	hauli_misuse("haul_mutex_unlock", "mutex %p %s", (void *)q, mistake_of(q, holder));
}

/* True: next spins, and goes on by itself. A select does not. */
static inline bool hand_over(struct hauli_sync_waiter *next)
{
	return !next->first &&
		hauli_handoff_serve(
			&HAULI_CONTAINER(next, struct hauli_sync_wait, waiter)->handoff);
}

static __attribute__((noinline)) void unlock_slow(struct hauli_waitq *q)
{
	const struct haul_coro *me = hauli_here()->current;
	uint64_t holder = hauli_waitq_lock(q);
	struct hauli_sync_waiter *next;

	if (hauli_unlikely(holder != value_of(me)))
		is_not_held(q, holder);
	next = hauli_waitq_take(&q->list, 0);
	hauli_waitq_unlock(q, next ? value_of(next->waiter.coro) : 0);
	if (!next)
		return;
	hauli_held_add(next->waiter.coro, 1);
	if (!hand_over(next))
		hauli_waitq_serve(next);
}

void haul_mutex_unlock(struct haul_mutex *m)
{
	struct hauli_waitq *q = (struct hauli_waitq *)m;
	struct haul_coro *me = hauli_here()->current;

	HAUL_MISUSE_IF(!m, NULL_MUTEX);
	if (hauli_unlikely(!hauli_lockword_swap(&q->word, value_of(me), 0)))
		unlock_slow(q);
	hauli_held_add(me, -1);
}

bool hauli_mutex_is_held_by(struct haul_mutex *m, const struct haul_coro *co)
{
	struct hauli_waitq *q = (struct hauli_waitq *)m;

	return hauli_waitq_value(hauli_lockword_get(&q->word)) == value_of(co);
}

static bool try_case(struct hauli_case *cs, uint64_t *holder, struct hauli_sync_waiter **other)
{
	struct haul_coro *me = hauli_here()->current;

	(void)other;
	hauli_may_suspend(me, "haul_select"); /* a try, too, needs somebody to hold the mutex */
	if (*holder == value_of(me))
		waits_for_itself(cs->q, "haul_select");
	if (*holder != 0)
		return false;
	*holder = value_of(me);
	hauli_held_add(me, 1);
	cs->err = 0;
	return true;
}

struct haul_case haul_case_mutex(struct haul_mutex *m)
{
	static const struct hauli_case_kind kind = {
		try_case, hauli_waitq_own_list, hauli_waitq_leave, NULL};

	HAUL_MISUSE_IF(!m, NULL_MUTEX);
	return hauli_case(&kind, m, NULL);
}
