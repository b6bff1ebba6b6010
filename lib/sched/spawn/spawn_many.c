/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spawning many coroutines at once: on a carrier one by one; from a thread that is no carrier as
 * one bulk for a cluster, whose carriers share it (cluster.c). All objects are allocated before
 * the first coroutine is set up, so all are spawned or none.
 */
#include <errno.h>

#include "base/assert.h"
#include "sched/mail/spawn_remote.h"
#include "sched/place/placing.h"
#include "sched/spawn/spawn.h"
#include "sched/state/group.h"
#include "sched/state/ready.h"
#include "sched/state/runtime.h"
#include "sched/state/self.h"
#include "sched/steal/stolen.h"

struct bulk {
	struct haul_runtime *rt;
	struct haul_coro **out; /* or NULL */
	haul_fn *fn;
	void *const *args;
	unsigned n;
	const struct haul_coro_opts *opts;
	unsigned cls;
};

/* Gets n objects, linked by item.next, or NULL if there is no memory. cache: where they are taken
 * from; NULL: directly from the slab. */
static struct hauli_item *get_coros(
	const struct bulk *b, struct hauli_slab_cache *cache, unsigned n)
{
	struct hauli_slab *slab = b->rt->coros;
	struct hauli_item *first = NULL;

	while (n-- > 0) {
		struct haul_coro *co = cache ? hauli_slab_get(cache) : hauli_slab_get_shared(slab);

		if (!co)
			break;
		co->item.next = first;
		first = &co->item;
		if (n == 0)
			return first;
	}
	while (first) {
		struct haul_coro *co = hauli_coro_of_item(first);

		first = first->next;
		if (cache)
			hauli_slab_put(cache, co);
		else
			hauli_slab_put_shared(slab, co);
	}
	return NULL;
}

static void set_up(const struct bulk *b, struct haul_coro *co, unsigned i)
{
	hauli_spawn_set_up(b->rt, co, b->cls, b->fn, b->args ? b->args[i] : NULL, b->opts, !b->out);
	if (b->out)
		b->out[i] = co;
}

static void set_up_homeless(const struct bulk *b, struct hauli_item *first)
{
	unsigned i = 0;

	first->n = b->n;
	for (struct hauli_item *item = first; item; item = item->next) {
		struct haul_coro *co = hauli_coro_of_item(item);

		set_up(b, co, i++);
		hauli_requests_begin(&co->requests, HAULI_REQ_HOMELESS);
		hauli_coro_set_state(co, HAULI_CORO_HOMELESS);
	}
}

static struct hauli_item *get_coros_outside(const struct bulk *b)
{
	struct hauli_slab_cache cache;
	struct hauli_item *first;

	if (b->n < HAULI_SLAB_SET)
		return get_coros(b, NULL, b->n);
	hauli_slab_cache_init(&cache, b->rt->coros);
	first = get_coros(b, &cache, b->n);
	hauli_slab_cache_fini(&cache);
	return first;
}

static int spawn_outside(const struct bulk *b)
{
	struct hauli_item *first;

	if (hauli_runtimes_are_copies())
		return -EPERM;
	if (!hauli_gate_enter(&b->rt->gate))
		return -ECANCELED;
	first = get_coros_outside(b);
	if (first) {
		set_up_homeless(b, first);
		hauli_cluster_put(hauli_placing_cluster(b->rt, b->opts), first);
	}
	hauli_gate_leave(&b->rt->gate);
	return first ? 0 : -ENOMEM;
}

/* Called on c's thread. c becomes the home of the coroutines. */
static int spawn_here(struct haul_carrier *c, const struct bulk *b)
{
	struct hauli_item *item;
	unsigned i = 0;

	if (c->phase != HAULI_PHASE_RUNS)
		return -ECANCELED;
	item = get_coros(b, &c->coros, b->n);
	if (!item)
		return -ENOMEM;
	while (item) {
		struct haul_coro *co = hauli_coro_of_item(item);

		item = item->next;
		set_up(b, co, i++);
		hauli_ptr_published_set(&co->home, c);
		hauli_counter_add(&c->counts.spawned, 1);
		hauli_queue_new(c, co);
	}
	hauli_steal_offer_here(c);
	return 0;
}

/* Called on c's thread by a coroutine that c has stolen. The coroutines get the caller's home. */
static int spawn_at_home(struct haul_carrier *c, struct haul_carrier *home, const struct bulk *b)
{
	struct hauli_item *item;
	unsigned i = 0;

	if (!hauli_gate_enter(&b->rt->gate))
		return -ECANCELED;
	item = get_coros(b, &c->coros, b->n);
	while (item) {
		struct haul_coro *co = hauli_coro_of_item(item);

		item = item->next;
		set_up(b, co, i++);
		hauli_spawn_send(home, co);
	}
	hauli_gate_leave(&b->rt->gate);
	return i > 0 ? 0 : -ENOMEM;
}

int haul_spawn_many(struct haul_runtime *rt, struct haul_coro **cos, haul_fn *fn,
	void *const args[], unsigned n, const struct haul_coro_opts *opts)
{
	struct bulk b = {.rt = rt, .out = cos, .fn = fn, .args = args, .n = n, .opts = opts};
	struct haul_carrier *c = hauli_here(), *home;
	int cls;

	HAUL_MISUSE_IF(!rt || !fn, "the runtime or the function is NULL");
	if (!hauli_spawn_may(opts))
		return -EINVAL;
	cls = hauli_spawn_stack_class(rt, opts);
	if (cls < 0)
		return cls;
	if (n == 0)
		return 0;
	b.cls = (unsigned)cls;
	if (c->rt != rt)
		return spawn_outside(&b);
	home = hauli_home_of_running(c);
	return home == c ? spawn_here(c, &b) : spawn_at_home(c, home, &b);
}
