/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Promise: a cycle that is reported existed at some instant: each of its coroutines waited for the
 * next one, without a deadline. Such a cycle never ends by itself; only a cancel can end one of the
 * waits.
 *
 * A wait for a mutex leads to its holder, a join to its target, and the end of a scope to each of
 * its children. Another thread reads them while the carriers run. It reads the stack of a coroutine
 * by a system call, since the coroutine may continue and its stack may be freed. A chain of waits
 * that comes back to its first coroutine is read twice. If each wait is the same one at both reads,
 * all of them existed at once between the reads, and so did the cycle. A wait is the same one, and
 * not a later wait for the same object, if
 *
 *	its home has begun no slice between the two reads (rounds, pops, start of the batch), and
 *	    the coroutine waited both times: then it has not run in between; or
 *	the time at which the wait began is the same, and at the first read the home was in a later
 *	    batch: a wait that began after that read would have the time of that batch, or a later
 *	    one. The clock of waits is coarse, so the batch must be two of its units later. Pollers
 *	    run outside of batches, and a stolen coroutine may come home between two: for these only
 *	    the first condition counts.
 *
 * Between the reads of one wait a mutex cannot change hands, as its holder waits too. A wait that
 * was served or cancelled, or for which a request is under way, is no wait.
 */
#include "sched/look/deadlock.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/race.h"
#include "sched/look/dump.h"
#include "sched/look/peek.h"
#include "sched/look/snapshot.h"
#include "sched/wait/block.h"
#include "sched/wait/extent.h"
#include "sched/wait/joined.h"

#define LONGEST 64 /* coroutines of a cycle, and extents of a child */
#define AT_ONCE 64 /* coroutines between two reads of the clock */
#define LOOK_NS HAUL_MS
#define YOUNG_NS (200 * HAUL_MS) /* younger waits are not looked at */
#define TOLD 256

/* A wait without a deadline, as it was read. */
struct wait {
	const struct haul_coro *co;
	const struct haul_carrier *home;
	/* what it waits for; the struct hauli_join or hauli_block, on the waiter's stack */
	const void *object, *noted_at;
	/* the coroutine that it waits for; NULL: all children of `object`, a scope */
	const struct haul_coro *next;
	uint64_t rounds, batch; /* the home's, before the wait was read */
	uint32_t popped, since;
	bool poller;
};

struct told {
	const struct haul_coro *co;
	uint32_t since;
};

struct hauli_deadlocks {
	const struct haul_runtime *rt;
	FILE *out;
	struct hauli_slab_walk at;
	unsigned n_told;
	struct told told[TOLD]; /* the last ones */
};

struct hauli_deadlocks *hauli_deadlocks_create(const struct haul_runtime *rt, FILE *out)
{
	struct hauli_deadlocks *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->rt = rt;
	d->out = out;
	return d;
}

void hauli_deadlocks_destroy(struct hauli_deadlocks *d)
{
	free(d);
}

static bool read_join(const struct hauli_deadlocks *d, struct wait *w)
{
	struct hauli_join j;

	if (!hauli_peek(&j, w->noted_at, sizeof(j)) || j.waiter != w->co)
		return false;
	w->object = w->next = j.target;
	return hauli_slab_has(d->rt->coros, w->next);
}

HAULI_MAY_RACE static bool read_block(const struct hauli_deadlocks *d, struct wait *w)
{
	struct hauli_block b;

	if (!hauli_peek(&b, w->noted_at, sizeof(b)) || b.co != w->co ||
		hauli_u32_published_get(&b.served) ||
		((b.kind & HAULI_CORO_CANCELLABLE) && hauli_coro_is_cancelled(w->co)))
		return false;
	w->object = b.object;
	w->next = NULL;
	if (b.what == hauli_block_children)
		return true;
	if (b.what != hauli_block_mutex)
		return false;
	w->next = hauli_snapshot_holder(b.object);
	return w->next != w->co && hauli_slab_has(d->rt->coros, w->next);
}

/* The kind of wait if co waits without a deadline; else no kind of wait. */
static enum hauli_coro_state lasting(const struct haul_coro *co)
{
	return hauli_coro_state(co) & ~HAULI_CORO_CANCELLABLE;
}

/* False: co does not wait, or has a deadline, or it is not known for which coroutine it waits. */
HAULI_MAY_RACE static bool read_wait(
	const struct hauli_deadlocks *d, const struct haul_coro *co, struct wait *w)
{
	const struct haul_carrier *c = hauli_coro_home(co);

	HAULI_RACES(co);
	if (!c || hauli_requests_pending(&co->requests))
		return false;
	*w = (struct wait){
		.co = co,
		.home = c,
		.rounds = hauli_counter_read(&c->counts.rounds),
		.batch = hauli_u64_owned_get(&c->steal.batch_began),
		.popped = hauli_ring_popped(&c->runq.ring),
		.since = co->timer.since,
		.noted_at = co->arg,
		.poller = hauli_coro_is_poller(co),
	};
	switch (lasting(co)) {
	case HAULI_CORO_JOINING:
		return read_join(d, w);
	case HAULI_CORO_BLOCKED:
		return read_block(d, w);
	default:
		return false;
	}
}

/* True if b, read later, is the same wait as a. */
static bool is_same_wait(const struct wait *a, const struct wait *b)
{
	bool still = a->rounds == b->rounds && a->batch == b->batch && a->popped == b->popped;
	bool later = a->batch == 0 || (int32_t)(hauli_since(a->batch) - a->since) >= 2;

	return a->home == b->home && a->object == b->object && a->noted_at == b->noted_at &&
		a->next == b->next && a->since == b->since &&
		(still || (later && a->since != 0 && !a->poller));
}

/* True if the scope that begins with extent s has spawned co. */
HAULI_MAY_RACE static bool is_child(const struct haul_coro *co, const void *s)
{
	const struct hauli_extent *f = hauli_extent_of(co);
	struct hauli_extent own;

	HAULI_RACES(co);
	for (unsigned i = 0; f && f != s && i < LONGEST; i++) {
		if (!hauli_peek(&own, f, sizeof(own)) || own.owner != co)
			return false;
		f = own.outer;
	}
	return f && f == s;
}

/* Follows the waits from co on. Returns the length of the cycle that comes back to co, or 0. */
static unsigned follow(
	const struct hauli_deadlocks *d, const struct haul_coro *co, struct wait *waits)
{
	const struct haul_coro *at = co;

	for (unsigned n = 0; n < LONGEST; at = waits[n++].next) {
		if (!read_wait(d, at, &waits[n]))
			return 0;
		if (!waits[n].next)
			return n > 0 && is_child(co, waits[n].object) ? n + 1 : 0;
		if (waits[n].next == co)
			return n + 1;
	}
	return 0;
}

static bool is_told(const struct hauli_deadlocks *d, const struct wait *w)
{
	for (unsigned i = 0; i < d->n_told && i < TOLD; i++)
		if (d->told[i].co == w->co && d->told[i].since == w->since)
			return true;
	return false;
}

static void tell(struct hauli_deadlocks *d, const struct wait *waits, unsigned n)
{
	const struct haul_coro *cos[LONGEST];
	bool told = false;

	for (unsigned i = 0; i < n; i++) {
		cos[i] = waits[i].co;
		told |= is_told(d, &waits[i]);
	}
	for (unsigned i = 0; i < n; i++)
		if (!is_told(d, &waits[i]))
			d->told[d->n_told++ % TOLD] = (struct told){cos[i], waits[i].since};
	if (told) /* the same cycle was reached from another coroutine */
		return;
	flockfile(d->out);
	fprintf(d->out,
		"haul: deadlock: %u coroutines wait for each other in a cycle, each for the next "
		"one, and the last for the first:\n",
		n);
	hauli_dump_these(d->rt, d->out, cos, n);
	funlockfile(d->out);
}

/* A guess, as co may run: true if it seems to have waited for YOUNG_NS, without a deadline. */
HAULI_MAY_RACE static bool may_be_stuck(const struct haul_coro *co)
{
	enum hauli_coro_state kind = lasting(co);

	HAULI_RACES(co);
	return (kind == HAULI_CORO_BLOCKED || kind == HAULI_CORO_JOINING) &&
		hauli_since_ns(co->timer.since, hauli_ticks()) >= YOUNG_NS;
}

static void look_at(void *object, void *arg)
{
	struct wait waits[LONGEST], again[LONGEST];
	const struct haul_coro *co = object;
	struct hauli_deadlocks *d = arg;
	unsigned n;

	if (!may_be_stuck(co))
		return;
	n = follow(d, co, waits);
	if (n == 0 || follow(d, co, again) != n)
		return;
	for (unsigned i = 0; i < n; i++)
		if (waits[i].co != again[i].co || !is_same_wait(&waits[i], &again[i]))
			return;
	tell(d, waits, n);
}

bool hauli_deadlocks_look(struct hauli_deadlocks *d)
{
	uint64_t began = hauli_ticks();

	do {
		if (!hauli_slab_walk(d->rt->coros, &d->at, AT_ONCE, look_at, d)) {
			d->at = (struct hauli_slab_walk){0};
			return true;
		}
	} while (hauli_ns_from_ticks(hauli_ticks() - began) < LOOK_NS);
	return false;
}
