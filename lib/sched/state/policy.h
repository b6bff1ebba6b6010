/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The decisions of stealing: which carrier steals, when, and from which victim. Here carriers are
 * members of a group; a table of four functions reads and changes them, and the time is an
 * argument. So perf/sim runs the same code in virtual time, with more carriers than the machine
 * has.
 */
#ifndef HAULI_SCHED_STATE_POLICY_H
#define HAULI_SCHED_STATE_POLICY_H

#include <haul/topo.h>

#include "conc/help.h"
#include "conc/word.h"

#define HAULI_SEARCHES 32 /* maximum at a time in a group */
#define HAULI_STEAL_MOST 128 /* maximum per theft: half a ring */

/* What one member sees of another: guesses, outdated when they are used. Times in ticks. */
struct hauli_policy_view {
	uint32_t depth; /* of its ring */
	bool stealable; /* thieves may find coroutines in its ring or backlog */
	bool mail; /* thieves may find coroutines in its mail */
	/* coroutines with an order key were stolen from it: they go home amid a slice to send */
	bool ordered;
	uint64_t began; /* start of the batch that runs there; 0: none runs */
	uint64_t average; /* typical length of a slice */
	bool fenced; /* its ring is fenced: a theft needs no barrier of all carriers */
};

struct hauli_policy_params {
	unsigned most; /* maximum number of coroutines per theft */
	unsigned depth; /* minimum queue depth to steal from; ignored while a hog runs */
	/* maximum number of naps in a row without a member in need, each twice as long as the
	 * last */
	unsigned naps;
	unsigned lease; /* a theft fences the victim's ring for this many pops */
	/* idle cycles between pulls of a spinning poller; a pull also comes due after `nap` */
	unsigned pull_every;
	/* minimum work for a theft, since the victim finishes less than that before a thief has it;
	 * and for a theft from a ring that is not fenced; ticks */
	uint64_t min_work, barrier_work;
	/* minimum time that one slice saves the victim when stolen; ticks */
	uint64_t least;
	uint64_t trip_cost; /* cost of going home amid a slice; ticks */
	/* minimum time between two thefts of the group, and between two thefts with a barrier;
	 * ticks */
	uint64_t min_gap, barrier_gap;
	uint64_t hog; /* a batch that has run for this long is a hog; ticks */
	uint64_t nap; /* length of a nap while a member is in need; ticks */
};

/* The defaults for this number of carriers and groups; times in ns. */
struct hauli_policy_params hauli_policy_defaults(unsigned carriers, unsigned groups);

struct hauli_policy;

/* The state of a member as a thief. Written and read by the member. */
struct hauli_thief {
	struct hauli_policy *policy;
	unsigned group_idx;
	unsigned search; /* while it searches: its token + 1; else 0 */
	uint64_t nap_until; /* end of its nap; ticks */
	unsigned naps, probes, idle_cycles;
	uint64_t pulled_at; /* ticks */
};

struct hauli_policy_ops {
	void (*look)(
		const struct hauli_policy *p, unsigned idx, struct hauli_policy_view *snapshot);
	/* Steals up to most coroutines. False: it got none. */
	bool (*steal)(struct hauli_thief *t, unsigned victim, unsigned most);
	/* Wakes the member, if it sleeps, to search with this token. False: it does not sleep. */
	bool (*send)(struct hauli_policy *p, unsigned idx, unsigned token);
	bool (*is_asleep)(const struct hauli_policy *p, unsigned idx);
};

/* What the members of a group share. */
struct hauli_policy {
	struct hauli_help help;
	/* time of the last theft or try, and of the last with a barrier; ticks. Thieves */
	HAULI_LINE struct hauli_u64_shared theft_at, barrier_at;
	/* Constant. */
	HAULI_LINE struct hauli_policy_params params;
	const struct hauli_policy_ops *ops;
	unsigned members;
	/* by_distance[i * members + k]: the k-th nearest member to i; k = 0: i itself. */
	uint16_t *by_distance;
};

/*
 * Returns 0 or -ENOMEM. The caller has set params and members, at most HAULI_HELP_MEMBERS; member i
 * is carrier carriers[i] of the plan, which may be freed afterwards.
 */
int hauli_policy_init(struct hauli_policy *p, const struct haul_plan *plan,
	const unsigned *carriers, unsigned searches, const struct hauli_policy_ops *ops);
void hauli_policy_fini(struct hauli_policy *p);

/* True if a carrier with this queue depth can spare a coroutine. */
static inline bool hauli_policy_has_spare(uint32_t depth, bool mail)
{
	return depth > 1 || mail;
}

/* Any thread. Requests help for a busy member that has coroutines for others. */
void hauli_policy_offer(struct hauli_policy *p, unsigned idx);

/* The member itself calls this and all functions below. It was sent a token: begins to search. */
void hauli_policy_begin(struct hauli_thief *t, unsigned token, uint64_t now);

/* It searches and has other work now: hands the search on, or ends it. */
void hauli_policy_end(struct hauli_thief *t);

/* Called in each idle cycle of a member that does not sleep. True: hauli_policy_pull() is due. */
static inline bool hauli_policy_pulls(struct hauli_thief *t, uint64_t now)
{
	const struct hauli_policy_params *r = &t->policy->params;

	/* A cycle may be long: it may yield the CPU or handle input. */
	if (++t->idle_cycles < r->pull_every && now - t->pulled_at < r->nap)
		return false;
	t->idle_cycles = 0;
	t->pulled_at = now;
	return true;
}

/* Looks for work to steal. True if it stole something; the same for the next function. */
bool hauli_policy_pull(struct hauli_thief *t, uint64_t now);

/* The same for a member that is about to sleep, or in a nap of its search. */
bool hauli_policy_idle(struct hauli_thief *t, uint64_t now);

/* Called when the member is marked asleep. False: it has begun to search, and must not sleep. */
bool hauli_policy_may_stay(struct hauli_thief *t, uint64_t now);

#endif
