/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The four functions by which the policy (policy.c) reads carriers and acts on them. Why they are
 * safe is shown elsewhere: thefts from a ring in conc/ring.c, thefts from the mail under the ring's
 * guard in mail.c, requests for help in conc/help.c. A stolen coroutine runs one slice and goes
 * home (stolen.c).
 *
 * A look finds each coroutine that is ready: in the ring, or in `left`. A coroutine that yields is
 * in `left` from before the pop of the next one until it has been pushed (suspend.h). Without
 * `left`, a thief that looks between the pop and the push could miss it and go to sleep; and if the
 * next one is a hog, nobody would wake the thief.
 *
 *	owner: yield              thief: look
 *	left = the coroutine      claimed
 *	pop: claim + 1            left
 *	push it: tail + 1         tail: tail - claimed are in the ring
 *	left = NULL
 *
 *	If the thief reads the claim of that pop, it reads left as set before the pop (ring.E3); or
 *	    it reads NULL, and then the tail after the push (word.E2).
 *	If it reads the claim from before that pop, it counts the coroutine that was popped in place
 *	    of the one that yields.
 *
 * Coroutines that are popped between the reads of claim and tail are counted as still there. If
 * there were some, the thief looks again, but at most LOOKS times: of a carrier that switches all
 * the time the count may be too high.
 *
 * Model: tests/model/look.c.
 * Stress: tests/stress/steal.c.
 */
#include "sched/steal/steal.h"

#include <stddef.h>

#include "base/clock.h"
#include "base/race.h"
#include "sched/mail/mail.h"
#include "sched/state/self.h"
#include "sched/state/traced.h"
#include "sched/steal/stolen.h"
#include "sched/wait/record.h"

#define LOOKS 2

static const struct hauli_group *group_of(const struct hauli_policy *p)
{
	return (const struct hauli_group *)((const char *)p - offsetof(struct hauli_group, policy));
}

static struct haul_carrier *member(const struct hauli_policy *p, unsigned idx)
{
	return group_of(p)->members[idx];
}

static struct haul_carrier *carrier_of(struct hauli_thief *t)
{
	return (struct haul_carrier *)((char *)t - offsetof(struct haul_carrier, steal.thief));
}

/* True if thieves may take co once its carrier, which has not done so yet, has published it. */
HAULI_MAY_RACE static bool is_stealable(const struct haul_coro *co)
{
	HAULI_RACES(co);
	return hauli_coro_state(co) == HAULI_CORO_READY && hauli_coro_queues(co) && !co->pinned;
}

/* Counts the ready coroutines of v: never too few, but for one that becomes a long one, for which v
 * begins a batch and offers what it has. */
static void count_ready(const struct haul_carrier *v, struct hauli_policy_view *s)
{
	const struct hauli_ring *ring = &v->runq.ring;
	uint32_t claimed;
	unsigned tries = LOOKS;

	do {
		const struct haul_coro *left;

		claimed = hauli_ring_claimed(ring);
		left = hauli_ptr_published_get(&v->left);
		s->depth = hauli_ring_behind(ring, claimed);
		s->stealable = hauli_runq_has_stealable(&v->runq);
		if (left && is_stealable(left)) {
			s->depth++;
			s->stealable = true;
		}
	} while (hauli_ring_claimed(ring) != claimed && --tries > 0);
	s->depth += hauli_runq_longs(&v->runq);
}

static void look(const struct hauli_policy *p, unsigned idx, struct hauli_policy_view *s)
{
	const struct haul_carrier *v = member(p, idx);

	s->began = hauli_u64_owned_get(&v->steal.batch_began);
	count_ready(v, s);
	s->mail = hauli_mail_is_stealable(v);
	s->ordered = hauli_u32_published_get(&v->steal.orders.taken) > 0;
	s->average = hauli_u64_owned_get(&v->steal.slice_average);
	s->fenced = hauli_ring_is_fenced(&v->runq.ring);
}

/* Without memory for a record a theft ends: those behind it, which it must not overtake, stay. */
static bool may_steal(const void *item)
{
	struct haul_carrier *c = hauli_here();

	if (c->steal.lacks_memory || !hauli_entry_is_stealable(item))
		return false;
	c->steal.lacks_memory = hauli_entry_is_record(item) && !hauli_record_may_take(c, item);
	return !c->steal.lacks_memory;
}

/* may_steal() for the mail, which holds coroutines, with or without a stack, and no entries. */
static bool may_steal_mailed(const void *item)
{
	struct haul_coro *co = (struct haul_coro *)item;

	return may_steal(co->co.stack ? hauli_entry_of_begun(co) : hauli_entry_of(&co->record));
}

/* Takes a coroutine from v's run queue, or returns NULL. */
static struct haul_coro *steal_one(struct haul_carrier *c, struct haul_carrier *v)
{
	struct hauli_entry *entry = hauli_runq_steal(&v->runq, may_steal);

	return hauli_entry_is_record(entry) ? hauli_record_take(c, v, entry)
					    : hauli_entry_begun(entry);
}

/* The same from its mail. */
static struct haul_coro *steal_mailed(struct haul_carrier *c, struct haul_carrier *v)
{
	struct haul_coro *co = hauli_mail_steal(v, may_steal_mailed);

	return co && !co->co.stack ? hauli_record_take(c, v, hauli_entry_of(&co->record)) : co;
}

static bool steal(struct hauli_thief *t, unsigned victim, unsigned most)
{
	struct haul_carrier *c = carrier_of(t), *v = member(t->policy, victim);
	struct haul_coro *stolen[HAULI_STEAL_MOST];
	unsigned n = 0;

	if (!hauli_ring_try_steal(&v->runq.ring)) {
		hauli_counter_add(&c->counts.steals_failed, 1);
		return false;
	}
	c->steal.lacks_memory = false;
	while (n < most && (stolen[n] = steal_one(c, v)))
		n++;
	if (n == 0 && (stolen[0] = steal_mailed(c, v)))
		n = 1;
	for (unsigned i = 0; i < n; i++) {
		hauli_traced_steal(c, stolen[i], v);
		hauli_stolen_take(stolen[i]);
	}
	hauli_ring_end_steal(&v->runq.ring);
	for (unsigned i = 0; i < n; i++)
		hauli_runq_push(&c->runq, hauli_entry_of_begun(stolen[i]));
	c->steal.has_stolen |= n > 0;
	hauli_counter_add(&c->counts.stolen, n);
	hauli_counter_add(&c->counts.steals_failed, n == 0);
	return n > 0;
}

static void handle(struct haul_carrier *c, struct hauli_msg *msg)
{
	hauli_steal_search(c, HAULI_CONTAINER(msg, struct hauli_search, msg));
}

static const struct hauli_msg_kind search_msg = {.handle = handle};

static bool send_search(struct hauli_policy *p, unsigned idx, unsigned token)
{
	struct hauli_group *g = (struct hauli_group *)group_of(p);

	g->searches[token].msg.kind = &search_msg;
	return hauli_mail_send_asleep(g->members[idx], &g->searches[token].msg);
}

static bool is_asleep(const struct hauli_policy *p, unsigned idx)
{
	return hauli_inbox_is_asleep(&member(p, idx)->mail.inbox);
}

const struct hauli_policy_ops hauli_steal_ops = {look, steal, send_search, is_asleep};

void hauli_steal_search(struct haul_carrier *c, struct hauli_search *s)
{
	hauli_counter_add(&c->counts.searches, 1);
	hauli_policy_begin(
		&c->steal.thief, (unsigned)(s - c->steal.group->searches), hauli_ticks());
}

bool hauli_steal_pull(struct haul_carrier *c)
{
	uint64_t now = hauli_ticks();

	c->steal.has_stolen = false; /* nothing is ready */
	return !c->steal.rests && hauli_policy_pulls(&c->steal.thief, now) &&
		hauli_policy_pull(&c->steal.thief, now);
}

bool hauli_steal_idle(struct haul_carrier *c)
{
	c->steal.has_stolen = false; /* nothing is ready */
	if (hauli_unlikely(c->steal.rests)) {
		hauli_steal_is_busy(c);
		return false;
	}
	return hauli_policy_idle(&c->steal.thief, hauli_ticks());
}

void hauli_steal_set_idle(struct haul_carrier *c)
{
	if (!c->steal.thief.search && !c->steal.rests)
		hauli_help_set_idle(&c->steal.group->policy.help, c->steal.group_idx);
}

/*
 * The barrier costs as much as a theft (conc/help.c, D1). So a carrier that sleeps often does not
 * issue a barrier for each sleep. If the next barrier is not due yet, the carrier sleeps without
 * one, but only until it is due. Most sleeps end earlier.
 */
bool hauli_steal_may_stay(struct haul_carrier *c)
{
	uint64_t now = hauli_ticks();

	if (hauli_unlikely(c->steal.rests))
		return true;
	if (!hauli_policy_may_stay(&c->steal.thief, now))
		return false;
	if (c->steal.thief.search)
		return true;
	c->steal.before_barrier = (int64_t)(now - c->steal.barrier_at) < 0;
	if (c->steal.before_barrier)
		return true;
	c->steal.barrier_at = now + c->steal.group->barrier_ticks;
	hauli_help_barrier();
	return hauli_policy_may_stay(&c->steal.thief, now);
}

void hauli_steal_clear_idle(struct haul_carrier *c)
{
	c->steal.before_barrier = false;
	hauli_help_clear_idle(&c->steal.group->policy.help, c->steal.group_idx);
}

void hauli_steal_batch_begins(struct haul_carrier *c, uint64_t now)
{
	bool has_mail;

	hauli_u64_owned_set(&c->steal.batch_began, now);
	hauli_u64_owned_set(&c->steal.slice_average, c->run.lately.typical);
	hauli_steal_is_busy(c);
	c->wait.path = HAULI_PATH_NOTIFY;
	c->spawn.path = c->steal.has_stolen || c->phase != HAULI_PHASE_RUNS ? HAULI_PATH_SLOW
									    : HAULI_PATH_NOTIFY;
	c->spawn.notifies = c->spawn.path == HAULI_PATH_NOTIFY;
	has_mail = !hauli_inbox_is_empty(&c->mail.inbox);
	if (hauli_policy_has_spare(
		    hauli_ring_depth(&c->runq.ring) + hauli_runq_longs(&c->runq), has_mail))
		hauli_steal_offer(c);
}

void hauli_steal_batch_ended(struct haul_carrier *c)
{
	hauli_u64_owned_set(&c->steal.batch_began, 0);
	c->spawn.path = c->phase == HAULI_PHASE_RUNS ? HAULI_PATH_FAST : HAULI_PATH_SLOW;
	c->spawn.notifies = false;
}
