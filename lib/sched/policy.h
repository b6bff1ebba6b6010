/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The decisions of stealing, and nothing else: which carrier steals, when, and from which victim.
 * Carriers are members of a group here; a table of four functions shows them and acts on them, and
 * the time is an argument. So perf/sim drives the same code in virtual time, with carriers that
 * this machine does not have.
 */
#ifndef HAULI_SCHED_POLICY_H
#define HAULI_SCHED_POLICY_H

#include <haul/topo.h>

#include "conc/help.h"
#include "conc/word.h"

#define HAULI_SEARCHES 32 /* at a time in a group, at most */
#define HAULI_STEAL_MOST 128 /* half a ring */

/* One member as another one sees it: guesses, old by the time they are used. Times in ticks. */
struct hauli_policy_snapshot {
	uint32_t depth; /* of its ring */
	bool stealable; /* thieves have not looked through the ring as it is */
	bool mail; /* something waits that the member has not looked at */
	bool ordered; /* what is stolen may have to go home amid its slice, to keep its order */
	uint64_t began; /* when the batch that runs there began; 0: none runs */
	uint64_t average; /* of its slices */
};

struct hauli_policy_params {
	unsigned most; /* coroutines in one theft */
	unsigned depth; /* minimum queue depth to steal from; ignored while a hog runs */
	unsigned naps; /* of a search that finds no work, each twice as long as the one before */
	unsigned pull_every; /* idle cycles of a spinning poller; sooner when a nap is over */
	uint64_t min_work; /* minimum work to steal: less is done before a thief has it; ticks */
	uint64_t least; /* shorter slices cost more elsewhere than they take; ticks */
	uint64_t trip_cost; /* the price of going home amid a slice; ticks */
	uint64_t min_gap; /* minimum time from one theft of the group to the next; ticks */
	uint64_t hog; /* a batch that runs for longer has a hog in it; ticks */
	uint64_t nap; /* the first one; ticks */
};

/* The defaults for this number of carriers and groups; times in ns. */
struct hauli_policy_params hauli_policy_defaults(unsigned carriers, unsigned groups);

struct hauli_policy;

/* A member as a thief. Its own. */
struct hauli_thief {
	struct hauli_policy *policy;
	unsigned group_idx;
	unsigned search; /* its token and 1, while it searches; 0: it does not */
	uint64_t nap_until; /* then it looks again; ticks */
	unsigned naps, probes, idle_cycles;
	uint64_t pulled_at; /* ticks */
};

struct hauli_policy_ops {
	void (*look)(
		const struct hauli_policy *p, unsigned idx, struct hauli_policy_snapshot *snapshot);
	/* Steals up to most coroutines; false: none. */
	bool (*steal)(struct hauli_thief *t, unsigned victim, unsigned most);
	/* Wakes the member, which sleeps, to search with this token; false: it does not sleep. */
	bool (*send)(struct hauli_policy *p, unsigned idx, unsigned token);
	bool (*is_asleep)(const struct hauli_policy *p, unsigned idx);
};

/* What the members of a group share. */
struct hauli_policy {
	struct hauli_help help;
	HAULI_LINE struct hauli_u64_shared theft_at; /* the last one; ticks. Thieves */
	/* Constant. */
	HAULI_LINE struct hauli_policy_params params;
	const struct hauli_policy_ops *ops;
	unsigned members;
	/* by_distance[i * members + k]: the members by their distance from i, itself first. */
	uint16_t *by_distance;
};

/*
 * 0 or -ENOMEM. The parameters are set, and so are the members, at most HAULI_HELP_MEMBERS; the
 * carrier with group_idx i is carriers[i] of the plan, which is needed no more after this.
 */
int hauli_policy_init(struct hauli_policy *p, const struct haul_plan *plan,
	const unsigned *carriers, unsigned searches, const struct hauli_policy_ops *ops);
void hauli_policy_fini(struct hauli_policy *p);

/* True if a carrier with this queue depth can spare a coroutine. */
static inline bool hauli_policy_has_spare(uint32_t depth, bool mail)
{
	return depth > 1 || mail;
}

/* Any thread. A member has something that others may run, and is busy. */
void hauli_policy_offer(struct hauli_policy *p, unsigned idx);

/* All others: the member itself. It was sent a token. */
void hauli_policy_begin(struct hauli_thief *t, unsigned token, uint64_t now);

/* It searches, and has something else to do now. */
void hauli_policy_end(struct hauli_thief *t);

/* An idle cycle of one that does not sleep. True: it is time for hauli_policy_pull(). */
static inline bool hauli_policy_pulls(struct hauli_thief *t, uint64_t now)
{
	const struct hauli_policy_params *r = &t->policy->params;

	/* Cycles may be long: they yield the CPU, or handle what is sent to them. */
	if (++t->idle_cycles < r->pull_every && now - t->pulled_at < r->nap)
		return false;
	t->idle_cycles = 0;
	t->pulled_at = now;
	return true;
}

/* True when something was stolen, here and below. */
bool hauli_policy_pull(struct hauli_thief *t, uint64_t now);

/* Idle, and about to sleep, or in a nap. */
bool hauli_policy_idle(struct hauli_thief *t, uint64_t now);

/* Asleep, as others see it. False: it has begun to search instead. */
bool hauli_policy_may_stay(struct hauli_thief *t, uint64_t now);

#endif
