/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The choice of a home for coroutines that are spawned by a thread that is no carrier.
 *
 * By load: the less loaded of two carriers of a cluster (M. Mitzenmacher, "The power of two choices
 * in randomized load balancing", IEEE TPDS 12(10), 2001). The first is chosen round robin and wins
 * if the loads are equal, so that equally loaded carriers get equal numbers; the second is chosen
 * at random. The load includes coroutines under way from the moment they are sent, so another
 * thread that chooses counts them, and threads do not all choose the carrier that was least loaded
 * a moment ago. This costs the owner nothing: the indices of its ring and its count of spawn
 * messages received exist anyway.
 */
#include "sched/place/placing.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#include "base/random.h"
#include "sched/state/carrier.h"
#include "sched/state/runtime.h"
#include "topo/local.h"

uint32_t hauli_load(const struct haul_carrier *c)
{
	const struct hauli_runq *q = &c->runq;
	uint32_t arrived = (uint32_t)hauli_counter_read(&c->counts.arrived);
	int32_t coming = (int32_t)(hauli_ticket_get(&c->mail.placed) - arrived);

	return hauli_ring_depth(&q->ring) + (uint32_t)hauli_backlog_depth(&q->backlog) +
		hauli_runq_longs(q) + hauli_ring_is_open(&q->ring) +
		(coming > 0 ? (uint32_t)coming : 0);
}

void hauli_placing_spare(struct haul_carrier *c, bool spared)
{
	if (hauli_u8_owned_get(&c->spared) == spared)
		return;
	hauli_u8_owned_set(&c->spared, spared);
	hauli_u64_shared_add(&c->rt->nb_spared, spared ? 1 : UINT64_MAX);
}

/* Of a cluster, or of the runtime (cl is NULL). */
static unsigned count(const struct haul_runtime *rt, const struct hauli_cluster *cl)
{
	return cl ? cl->nb_members : rt->nb_carriers;
}

static struct haul_carrier *nth(struct haul_runtime *rt, const struct hauli_cluster *cl, unsigned i)
{
	return cl ? cl->members[i] : &rt->carriers[i];
}

/* The next one round robin, passing over spared ones unless all are. */
static struct haul_carrier *in_turn(
	struct haul_runtime *rt, const struct hauli_cluster *cl, uint32_t ticket)
{
	unsigned all = count(rt, cl), used = 0;

	if (hauli_likely(hauli_u64_shared_get(&rt->nb_spared) == 0))
		return nth(rt, cl, ticket % all);
	for (unsigned i = 0; i < all; i++)
		used += !hauli_u8_owned_get(&nth(rt, cl, i)->spared);
	if (used == 0)
		return nth(rt, cl, ticket % all);
	ticket %= used;
	for (unsigned i = 0; i < all; i++)
		if (!hauli_u8_owned_get(&nth(rt, cl, i)->spared) && ticket-- == 0)
			return nth(rt, cl, i);
	return nth(rt, cl, 0); /* one has just been spared */
}

static struct haul_carrier *less_loaded(
	struct haul_runtime *rt, struct hauli_cluster *cl, uint32_t ticket)
{
	struct haul_carrier *next = in_turn(rt, cl, ticket), *other;
	struct hauli_random random;

	if (cl->nb_members == 1)
		return next;
	hauli_random_init(&random, ticket);
	ticket += 1 + hauli_random_below(&random, cl->nb_members - 1);
	other = in_turn(rt, cl, ticket);
	return hauli_load(other) < hauli_load(next) ? other : next;
}

struct hauli_cluster *hauli_placing_cluster(
	struct haul_runtime *rt, const struct haul_coro_opts *opts)
{
	int cpu;

	if (opts && opts->near)
		return opts->near->cluster;
	cpu = sched_getcpu();
	if (cpu < 0 || (unsigned)cpu >= rt->nb_cpus)
		return rt->carriers[0].cluster;
	return rt->nearest[cpu]->cluster;
}

struct haul_carrier *hauli_placing_carrier(
	struct haul_runtime *rt, const struct haul_coro_opts *opts)
{
	uint32_t ticket = hauli_ticket_take(&rt->ticket);

	if (!opts || !opts->round_robin)
		return less_loaded(rt, hauli_placing_cluster(rt, opts), ticket);
	return in_turn(rt, opts->near ? opts->near->cluster : NULL, ticket);
}

/* The first carrier on one of these CPUs; if there is none, the carrier nearest to the first of
 * them. */
static struct haul_carrier *near_any(struct haul_runtime *rt, const bool *cpus)
{
	for (unsigned i = 0; i < rt->nb_carriers; i++) {
		int cpu = rt->carriers[i].place.cpu;

		if (cpu >= 0 && (unsigned)cpu < rt->nb_cpus && cpus[cpu])
			return &rt->carriers[i];
	}
	for (unsigned i = 0; i < rt->nb_cpus; i++)
		if (cpus[i])
			return rt->nearest[i];
	return NULL;
}

struct haul_carrier *haul_carrier_near(struct haul_runtime *rt, const char *nic)
{
	struct haul_carrier *near = NULL;
	bool *cpus;

	HAUL_MISUSE_IF(!rt || !nic, "the runtime or the NIC's name is NULL");
	cpus = calloc(rt->nb_cpus + 1, sizeof(cpus[0]));
	if (cpus && hauli_local_cpus(nic, cpus, rt->nb_cpus))
		near = near_any(rt, cpus);
	free(cpus);
	return near;
}

int hauli_placing_init(struct haul_runtime *rt, const struct haul_plan *plan)
{
	rt->nb_cpus = plan->nearest ? plan->cpus : 0;
	rt->nearest = calloc(rt->nb_cpus + 1, sizeof(rt->nearest[0]));
	if (!rt->nearest)
		return -ENOMEM;
	for (unsigned i = 0; i < rt->nb_cpus; i++)
		rt->nearest[i] = &rt->carriers[plan->nearest[i]];
	return 0;
}

void hauli_placing_fini(struct haul_runtime *rt)
{
	free(rt->nearest);
}
