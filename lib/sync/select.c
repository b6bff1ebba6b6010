/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting for the first of several. (As the select of Go's runtime does it.)
 *
 * Promise: one case is done, or none and the call returns an error; a case that is not returned has
 * changed nothing; and a coroutine that waits is served by the first object that can.
 *
 * A select holds the locks of all its objects while it looks at them and, if no case can be done,
 * while it enters all their lists. So no server sees it in some lists only, and none changes an
 * object between the look and the entry. Then it waits once, by block.c.
 *
 *	select                              server of an object
 *	locks all; no case can be done      with the object's lock:
 *	enters each list; unlocks all       takes the first waiter out of the list
 *	waits                               a select's? takes its claim
 *	                                    claim had been taken? looks at the next waiter
 *	                                    unlocks; serves
 *	served, or takes the claim itself
 *	leaves the lists where it still is
 *
 *	claim: of the servers of all objects, and the select whose deadline has passed or which
 *	    was cancelled, one takes it (word.h: an exchange). Only that server serves, so the
 *	    select is served once, with one result; and if the select has it, never. A server that
 *	    finds it taken changes nothing but its list, which the waiter has left.
 *	A select that does not get its claim was, or is about to be, served: it waits for that, as
 *	    every waiter does (block.c).
 *	Two selects, one sends and one receives: the second one to come holds all its locks and is
 *	    in no list, so nobody can serve it. It needs only the claim of the first one.
 *	The locks are taken in the order of their addresses, each once, and nobody else holds two:
 *	    there is no deadlock.
 *	Before a select returns it takes the lock of each object that did not serve it. So no server
 *	    uses its cases, its claim or its coroutine after that.
 *
 * Model: tests/model/select_sem.c, select_sem_cancel.c, select_servers.c,
 * select_chan.c, select_select.c. Stress: tests/stress/sync.c.
 */
#include "sync/select.h"

#include <limits.h>

#include "base/clock.h"
#include "base/simulated.h"
#include "sched/wait/suspend.h"

/* The objects of the cases, each once, by address; in a simulation as they come. */
struct objects {
	struct hauli_waitq *at[HAUL_CASES_MAX];
	unsigned n;
	bool outside; /* there are cases whose objects are the kernel's, too */
};

/* In a simulation addresses must decide nothing: they are others when the run is made again. */
static void insert_simulated(struct objects *o, struct hauli_waitq *q)
{
	for (unsigned i = 0; i < o->n; i++)
		if (o->at[i] == q)
			return;
	o->at[o->n++] = q;
}

static void insert(struct objects *o, struct hauli_waitq *q)
{
	unsigned i = o->n;

	if (HAULI_SIM) {
		insert_simulated(o, q);
		return;
	}
	while (i > 0 && o->at[i - 1] > q)
		i--;
	if (i > 0 && o->at[i - 1] == q)
		return;
	for (unsigned k = o->n++; k > i; k--)
		o->at[k] = o->at[k - 1];
	o->at[i] = q;
}

static void gather(struct objects *o, const struct hauli_case *cases, unsigned n)
{
	o->n = 0;
	o->outside = false;
	for (unsigned i = 0; i < n; i++) {
		if (hauli_unlikely(cases[i].waiter.waiter.coro))
			hauli_misuse("haul_select",
				"case %u is in use: two coroutines must not use one array of cases",
				i);
		if (hauli_unlikely(!cases[i].kind))
			continue;
		if (hauli_unlikely(cases[i].kind->attempt))
			o->outside = true;
		if (hauli_likely(cases[i].q != NULL))
			insert(o, cases[i].q);
	}
}

static uint64_t value_of(const struct hauli_waitq *q)
{
	return hauli_waitq_value(hauli_lockword_get(&q->word));
}

/* False: somebody else holds it. */
static bool try_lock_simulated(struct hauli_waitq *q)
{
	bool locked;

	(void)hauli_lockword_get(&q->word); /* a step, before which others may take it */
	hauli_unseen_begin(); /* none between the look and the lock */
	locked = hauli_lockword_get(&q->word) & HAULI_LOCKWORD_LOCKED;
	if (!locked)
		(void)hauli_waitq_lock(q);
	hauli_unseen_end();
	return !locked;
}

/* Without an order that all have in common: whoever finds a lock taken gives back those it has. */
static void lock_all_simulated(const struct objects *o)
{
	for (unsigned i = 0; i < o->n; i++) {
		if (try_lock_simulated(o->at[i]))
			continue;
		for (unsigned k = 0; k < i; k++)
			hauli_waitq_unlock(o->at[k], value_of(o->at[k]));
		hauli_cpu_pause();
		i = UINT_MAX; /* again, from the first one */
	}
}

static void lock_all(const struct objects *o)
{
	if (HAULI_SIM) {
		lock_all_simulated(o);
		return;
	}
	for (unsigned i = 0; i < o->n; i++)
		(void)hauli_waitq_lock(o->at[i]);
}

static void unlock_all(const struct objects *o)
{
	for (unsigned i = 0; i < o->n; i++)
		hauli_waitq_unlock(o->at[i], value_of(o->at[i]));
}

/* Under all locks. */
static bool try_case(struct hauli_case *cs, struct hauli_sync_waiter **other)
{
	uint64_t value;

	if (!cs->kind || !cs->q)
		return false;
	value = value_of(cs->q);
	if (!cs->kind->try(cs, &value, other))
		return false;
	hauli_lockword_put(&cs->q->word, value);
	return true;
}

/* 0 to n - 1, at random; n > 0. Knuth's multiplier for MMIX. */
static unsigned draw(struct haul_carrier *c, unsigned n)
{
	uint64_t next = hauli_u64_shared_get(&c->random) * UINT64_C(6364136223846793005) +
		UINT64_C(1442695040888963407);

	hauli_u64_shared_set(&c->random, next);
	return (unsigned)(((next >> 32) * n) >> 32);
}

/* Begins at a random case, so that none of those that can be done always comes first. Returns the
 * index of the case that was done; n: none. */
static unsigned try_all(struct hauli_case *cases, unsigned n, struct hauli_sync_waiter **other)
{
	unsigned i = n == 0 ? 0 : draw(hauli_here(), n);

	*other = NULL;
	for (unsigned k = 0; k < n; k++) {
		if (try_case(&cases[i], other))
			return i;
		if (++i == n)
			i = 0;
	}
	return n;
}

static void enter_all(struct hauli_case *cases, unsigned n, struct hauli_sync_first *first)
{
	for (unsigned i = 0; i < n; i++)
		if (cases[i].kind)
			hauli_sync_waiter_enter(
				cases[i].kind->list(cases[i].q), &cases[i].waiter, first);
}

static void leave_all(struct hauli_case *cases, unsigned n, const struct hauli_sync_waiter *served)
{
	for (unsigned i = 0; i < n; i++) {
		if (!cases[i].kind)
			continue;
		if (&cases[i].waiter != served)
			(void)hauli_waitq_leave_if_there(
				cases[i].q, &cases[i].waiter, cases[i].kind->leave);
		cases[i].waiter.waiter.coro = NULL;
	}
}

static int wait(struct hauli_case *cases, unsigned n, struct hauli_select *s)
{
	int err = hauli_block_wait(&s->block);
	struct hauli_case *cs;

	if (err != 0) {
		if (hauli_claim_take(&s->first.claim)) {
			leave_all(cases, n, NULL);
			return err;
		}
		hauli_block_wait_served(&s->block);
	}
	leave_all(cases, n, s->first.served);
	cs = HAULI_CONTAINER(s->first.served, struct hauli_case, waiter);
	cs->err = cs->waiter.result;
	if (hauli_unlikely(cs->waiter.serves_rest))
		cs->kind->serve_rest(cs->q);
	return (int)(cs - cases);
}

/* Looks at the objects; enters their lists if the select has to wait, and waits. */
static int look_and_wait(struct hauli_case *cases, unsigned n, uint64_t deadline,
	struct hauli_select *s, const struct objects *o)
{
	struct hauli_sync_waiter *other;
	unsigned i;

	lock_all(o);
	i = try_all(cases, n, &other);
	if (i == n && deadline != 0) {
		s->first.claim = (struct hauli_claim){false};
		hauli_block_init(&s->block, hauli_here()->current, deadline, true);
		s->block.what = "one of the cases";
		s->block.object = cases;
		enter_all(cases, n, &s->first);
		unlock_all(o);
		return wait(cases, n, s);
	}
	unlock_all(o);
	if (other)
		hauli_waitq_serve(other);
	return i == n ? -EAGAIN : (int)i;
}

static bool is_outside(const struct hauli_case *cs)
{
	return cs->kind && cs->kind->attempt;
}

/* Makes the system calls. Returns the index of the case that was done; n: none. */
static unsigned attempt_all(struct hauli_case *cases, unsigned n)
{
	unsigned i = draw(hauli_here(), n);

	for (unsigned k = 0; k < n; k++) {
		if (is_outside(&cases[i]) && cases[i].kind->attempt(&cases[i]))
			return i;
		if (++i == n)
			i = 0;
	}
	return n;
}

/* Returns the index of a case that is done, with an error; n: the kernel will tell of each. */
static unsigned begin_all(struct hauli_case *cases, unsigned n, struct haul_carrier *c)
{
	for (unsigned i = 0; i < n; i++) {
		if (!is_outside(&cases[i]))
			continue;
		cases[i].err = cases[i].kind->begins(&cases[i], c);
		if (cases[i].err)
			return i;
	}
	return n;
}

/* The first `n` have begun; `done` is not among them, or is served. */
static void end_all(struct hauli_case *cases, unsigned n, struct haul_carrier *c)
{
	for (unsigned i = 0; i < n; i++)
		if (is_outside(&cases[i]))
			cases[i].kind->ends(&cases[i], c);
}

/* The same for objects of which some are the kernel's. It has no lock that would keep it as it is
 * between a look and the wait: a select that was served looks again, and waits again if another has
 * taken what there was. */
static int select_outside(struct hauli_case *cases, unsigned n, uint64_t deadline,
	struct hauli_select *s, struct objects *o)
{
	struct haul_coro *me = hauli_here()->current;
	struct haul_carrier *c;
	unsigned begun;
	int done;

	for (;;) {
		unsigned i = attempt_all(cases, n);

		if (i < n)
			return (int)i;
		if (deadline == 0)
			return look_and_wait(cases, n, 0, s, o);
		c = hauli_go_on_at_home(hauli_here(), me);
		begun = begin_all(cases, n, c);
		gather(o, cases, n); /* some have their objects now */
		done = begun < n ? (int)begun : look_and_wait(cases, n, deadline, s, o);
		end_all(cases, begun, hauli_go_on_at_home(hauli_here(), me));
		if (done < 0 || !is_outside(&cases[done]) || cases[done].err ||
			cases[done].kind->attempt(&cases[done]))
			return done;
	}
}

int hauli_select_with(
	struct hauli_case *cases, unsigned n, uint64_t deadline, struct hauli_select *s)
{
	struct objects o;

	gather(&o, cases, n);
	if (hauli_unlikely(o.outside))
		return select_outside(cases, n, deadline, s, &o);
	return look_and_wait(cases, n, deadline, s, &o);
}

int haul_select(struct haul_case *cases, unsigned n, uint64_t deadline)
{
	struct haul_carrier *c = hauli_here();
	struct hauli_case *all = (struct hauli_case *)cases;
	struct hauli_select s;
	int err;

	HAUL_MISUSE_IF(n > 0 && !cases, "the cases are NULL");
	HAUL_MISUSE_IF(n > HAUL_CASES_MAX, "%u cases; there are at most %d", n, HAUL_CASES_MAX);
	err = hauli_waitq_check(c, c->current, __func__, deadline);
	return hauli_unlikely(err) ? err : hauli_select_with(all, n, deadline, &s);
}
