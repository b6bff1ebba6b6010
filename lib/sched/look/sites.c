/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched/look/sites.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/race.h"
#include "coro/frozen.h"
#include "coro/trace.h"
#include "sched/look/snapshot.h"
#include "sched/state/runtime.h"

struct count {
	bool (*is_chosen)(haul_fn *body);
	struct hauli_waits *by_carrier;
	unsigned nb_carriers;
	bool has_times;
	uint64_t now;
};

/* Races with the carriers, so the numbers may be wrong; they are only printed. */
HAULI_MAY_RACE static void count_one(void *object, void *arg)
{
	const struct haul_coro *co = object;
	const struct haul_carrier *home = hauli_coro_home(co);
	struct count *count = arg;
	struct hauli_waits *w;
	uint64_t ns = 0;

	HAULI_RACES(co);
	if (!home || home->id >= count->nb_carriers || !hauli_state_waits(hauli_coro_state(co)) ||
		!count->is_chosen(co->fn))
		return;
	w = &count->by_carrier[home->id];
	w->n++;
	/* Read after the state: before it, this might be the start of an earlier wait. */
	if (count->has_times)
		ns = hauli_since_ns(co->timer.since, count->now);
	if (!w->co || ns > w->longest_ns) {
		w->longest_ns = ns;
		w->co = co;
	}
}

void hauli_waits_count(const struct haul_runtime *rt, bool (*is_chosen)(haul_fn *body),
	struct hauli_waits *by_carrier, unsigned nb_carriers)
{
	struct count count = {
		.is_chosen = is_chosen,
		.by_carrier = by_carrier,
		.nb_carriers = nb_carriers,
		.has_times = !rt->virtual_time,
		.now = hauli_timer_ticks(),
	};

	memset(by_carrier, 0, nb_carriers * sizeof(by_carrier[0]));
	hauli_slab_for_each(rt->coros, count_one, &count);
}

/* The entry for a call stack, a new one if there is none; NULL: all entries are for others. */
static struct hauli_site *entry_for(struct hauli_sites *sites, void *const *pcs, unsigned depth)
{
	struct hauli_site *s;

	for (s = sites->of; s < &sites->of[HAULI_SITES] && s->coroutines > 0; s++)
		if (s->depth == depth && memcmp(s->pcs, pcs, depth * sizeof(pcs[0])) == 0)
			return s;
	if (s == &sites->of[HAULI_SITES])
		return NULL;
	s->depth = depth;
	memcpy(s->pcs, pcs, depth * sizeof(pcs[0]));
	return s;
}

static void add(struct hauli_sites *sites, void *const *pcs, unsigned depth, uint64_t n)
{
	struct hauli_site *s = depth > 0 ? entry_for(sites, pcs, depth) : NULL;

	*(s ? &s->coroutines : &sites->others) += n;
}

void hauli_sites_add(struct hauli_sites *sites, const struct haul_coro *co)
{
	void *pcs[HAULI_SITE_DEPTH];
	unsigned depth = 0;

	/* A coroutine that is ready may run on a thief now; one that waits is suspended, and stays
	 * so. */
	if (hauli_state_waits(hauli_coro_state(co)))
		depth = hauli_co_trace(&co->co, pcs, HAULI_SITE_DEPTH);
	add(sites, pcs, depth, 1);
}

void hauli_sites_merge(struct hauli_sites *sites, const struct hauli_sites *from)
{
	sites->others += from->others;
	for (unsigned i = 0; i < HAULI_SITES && from->of[i].coroutines > 0; i++)
		add(sites, from->of[i].pcs, from->of[i].depth, from->of[i].coroutines);
}

static void print(void *const *pcs, unsigned depth, char *buf, size_t len)
{
	FILE *out = fmemopen(buf, len, "w");

	buf[0] = '\0';
	if (!out)
		return;
	hauli_trace_print_line(pcs, depth, out);
	fclose(out);
	buf[len - 1] = '\0';
}

void hauli_site_print(const struct hauli_site *site, char *buf, size_t len)
{
	print(site->pcs, site->depth, buf, len);
}

void hauli_site_of_waiting(const struct haul_coro *co, char *buf, size_t len)
{
	const struct haul_carrier *home = hauli_coro_home(co);
	struct hauli_shot shot = {.co = co};

	buf[0] = '\0';
	if (home && hauli_snapshot(home, &shot, 1) && shot.taken && hauli_state_waits(shot.state))
		print(shot.pcs, shot.n < HAULI_SITE_DEPTH ? shot.n : HAULI_SITE_DEPTH, buf, len);
}
