/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The share that a carrier takes from the injector of its cluster, and how a coroutine gets its
 * home. conc/injector.c has the proof that no coroutine stays in the injector while a carrier
 * sleeps.
 *
 * Requests to a homeless coroutine (unpark, cancel, detach, join) cannot be sent to a home. They
 * need no message: its request word begins with a bit set, so no requester is the first, and none
 * sends one. The new home publishes itself and then takes the requests (conc/requests.h); the first
 * requester after that finds the home.
 *
 * A fair share is the number of waiting coroutines divided by the carriers of the cluster, at most
 * MOST, so that no carrier holds the injector for long and fast carriers come back for more. A
 * carrier with ready coroutines of its own takes a share only in every BUSY_ROUNDS-th round, less
 * the number of these, but at least one. A carrier that slept may have been woken only because of
 * the injector: it takes a share, or wakes the next sleeping carrier to do so
 * (hauli_cluster_after_sleep()).
 *
 * Model: tests/model/homeless.c, roused.c. Stress: tests/stress/injector.c.
 */
#include "sched/place/cluster.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#include "sched/mail/mail.h"
#include "sched/state/ready.h"
#include "sched/state/runtime.h"
#include "sched/wait/request.h"

#define MOST 128u
#define BUSY_ROUNDS 16

static void become_home(struct haul_carrier *c, struct haul_coro *co)
{
	hauli_counter_add(&c->counts.spawned, 1);
	hauli_coro_set_state(co, HAULI_CORO_READY);
	hauli_ptr_published_set(&co->home, c);
	hauli_requests_here(c, co);
	/* Cancelled at once, since it would otherwise run before the stop visits it. */
	if (hauli_unlikely(hauli_u8_owned_get(&c->cluster->stops)))
		hauli_cancel_here(c, co);
	hauli_queue_new(c, co);
}

static void become_home_of_all(struct haul_carrier *c, struct hauli_item *item)
{
	while (item) {
		struct haul_coro *co = hauli_coro_of_item(item);

		item = item->next; /* item shares its memory with the timer */
		become_home(c, co);
	}
}

static void rouse(struct hauli_cluster *cl, unsigned from)
{
	enum hauli_inbox_state slept;
	int member = hauli_injector_rouse(&cl->injector, from, &slept);

	if (member >= 0)
		hauli_mail_wake(cl->members[member], slept);
}

void hauli_cluster_put(struct hauli_cluster *cl, struct hauli_item *first)
{
	hauli_injector_put(&cl->injector, first);
	rouse(cl, hauli_injector_ticket(&cl->injector));
}

static uint32_t share(const struct hauli_cluster *cl, uint32_t ready)
{
	uint32_t fair = hauli_injector_count(&cl->injector) / cl->nb_members;

	if (fair > MOST)
		fair = MOST;
	return fair > ready ? fair - ready : 1;
}

/* ready: the number of c's own ready coroutines. */
static void take_share(struct haul_carrier *c, uint32_t ready)
{
	struct hauli_cluster *cl = c->cluster;
	struct hauli_item *items;

	if (!hauli_injector_try_open(&cl->injector)) {
		if (ready == 0) /* its holder may be preempted */
			sched_yield();
		return;
	}
	items = hauli_injector_take(&cl->injector, share(cl, ready));
	hauli_injector_close(&cl->injector);
	rouse(cl, c->cluster_idx + 1);
	become_home_of_all(c, items);
}

void hauli_cluster_fetch(struct haul_carrier *c)
{
	uint32_t ready = hauli_ring_depth(&c->runq.ring);

	if (ready > 0 && ++c->run.passed_over < BUSY_ROUNDS)
		return;
	c->run.passed_over = 0;
	take_share(c, ready);
}

void hauli_cluster_after_sleep(struct haul_carrier *c)
{
	c->run.passed_over = 0;
	if (hauli_ring_depth(&c->runq.ring) == 0)
		take_share(c, 0);
	else /* its mail made coroutines ready, which may run for long */
		rouse(c->cluster, c->cluster_idx + 1);
}

bool hauli_cluster_empty(struct haul_carrier *c, uint32_t most)
{
	struct hauli_injector *in = &c->cluster->injector;
	struct hauli_item *items;
	bool is_empty;

	if (!hauli_injector_try_open(in)) {
		sched_yield(); /* its holder may be preempted */
		return false;
	}
	items = hauli_injector_take(in, most);
	hauli_injector_close(in);
	is_empty = !items;
	become_home_of_all(c, items);
	return is_empty;
}

void hauli_clusters_stop(struct haul_runtime *rt)
{
	for (unsigned i = 0; i < rt->nb_clusters; i++)
		hauli_u8_owned_set(&rt->clusters[i].stops, true);
}

static int cluster_init(
	struct hauli_cluster *cl, struct haul_runtime *rt, const struct haul_plan *plan)
{
	unsigned number = (unsigned)(cl - rt->clusters);

	cl->nb_members = 0;
	hauli_u8_owned_set(&cl->stops, false);
	cl->members = calloc(rt->nb_carriers, sizeof(cl->members[0]));
	cl->inboxes = calloc(rt->nb_carriers, sizeof(cl->inboxes[0]));
	if (!cl->members || !cl->inboxes)
		return -ENOMEM;
	for (unsigned i = 0; i < rt->nb_carriers; i++) {
		struct haul_carrier *c = &rt->carriers[i];

		if (plan->places[i].cluster != number)
			continue;
		c->cluster = cl;
		c->cluster_idx = cl->nb_members++;
		cl->members[c->cluster_idx] = c;
		cl->inboxes[c->cluster_idx] = &c->mail.inbox;
	}
	hauli_injector_init(&cl->injector, cl->inboxes, cl->nb_members);
	return 0;
}

int hauli_clusters_init(struct haul_runtime *rt, const struct haul_plan *plan)
{
	int err = 0;

	rt->clusters = aligned_alloc(HAULI_CACHE_LINE, plan->clusters * sizeof(rt->clusters[0]));
	if (!rt->clusters)
		return -ENOMEM;
	for (rt->nb_clusters = 0; rt->nb_clusters < plan->clusters && !err; rt->nb_clusters++)
		err = cluster_init(&rt->clusters[rt->nb_clusters], rt, plan);
	if (err)
		hauli_clusters_fini(rt);
	return err;
}

void hauli_clusters_fini(struct haul_runtime *rt)
{
	while (rt->nb_clusters > 0) {
		struct hauli_cluster *cl = &rt->clusters[--rt->nb_clusters];

		free(cl->members);
		free(cl->inboxes);
	}
	free(rt->clusters);
	rt->clusters = NULL;
}
