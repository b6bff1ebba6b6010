/* SPDX-License-Identifier: BSD-3-Clause */
/* The operations of the soak. */
#include <errno.h>
#include <stdlib.h>

#include <haul/driver.h>
#include <haul/sync.h>

#include "soak.h"

struct actor actor(uint64_t seed, unsigned depth)
{
	struct actor a = {.depth = depth};

	hauli_random_init(&a.random, seed);
	hauli_random_next(&a.random);
	return a;
}

static struct haul_runtime *draw_runtime(struct actor *a)
{
	return s.other && below(a, 4) == 0 ? s.other : s.rt;
}

static struct haul_carrier *draw_carrier(struct actor *a)
{
	struct haul_runtime *rt = draw_runtime(a);

	return haul_carrier(rt, below(a, haul_carriers(rt)));
}

/* In the program's own code, in libc's, and in haul's, none of which suspends. Most hogs are left
 * behind, some more than once. */
static void hogs(struct actor *a)
{
	uint64_t end = haul_now() + below(a, below(a, 20) ? 300 : 4000) * HAUL_US;
	char *memory = NULL;

	while (haul_now() < end) {
		for (unsigned n = below(a, 4000); n > 0; n--)
			__asm__ volatile("");
		free(memory);
		memory = malloc(1 + below(a, 500));
		(void)haul_cancelled();
	}
	free(memory);
}

/* Now and then for as long as lets thieves come. */
void soak_computes(struct actor *a)
{
	if (s.rescues && below(a, 60) == 0)
		hogs(a);
	for (unsigned n = below(a, below(a, 40) ? 4000 : 400000); n > 0; n--)
		__asm__ volatile("");
}

/* A result that only its seed gives. */
static void *result_of(const void *seed)
{
	return (void *)((uintptr_t)seed ^ 0x5eed);
}

void *soak_leaf(void *seed)
{
	struct actor a = actor((uintptr_t)seed, 2);

	s.alive++;
	for (unsigned n = below(&a, 4); n > 0; n--) {
		if (below(&a, 2))
			haul_yield();
		else
			haul_sleep(draw_ns(&a));
		soak_computes(&a);
	}
	s.alive--;
	return result_of(seed);
}

static void *draw_seed(struct actor *a)
{
	return (void *)(uintptr_t)(hauli_random_next(&a->random) >> 8);
}

/* Waits as long as it takes, also if a scope around has a deadline. */
static void join_at_last(struct haul_coro *co, const void *result)
{
	void *got = NULL;
	int err;

	while ((err = haul_join(co, &got, HAUL_FOREVER)) == -ETIMEDOUT)
		haul_yield();
	RIGHT(err == 0 && got == result);
}

/* The end of a handle: joined in time or at last, detached, cancelled before. */
static void end_handle(struct actor *a, struct haul_coro *co, const void *result)
{
	void *got = NULL;

	if (below(a, 4) == 0)
		haul_cancel(co);
	for (unsigned tries = below(a, 4); tries > 0; tries--) {
		if (done(haul_join(co, &got, draw_deadline(a)))) {
			RIGHT(got == result);
			return;
		}
	}
	if (below(a, 3) == 0)
		haul_detach(co);
	else
		join_at_last(co, result);
}

static void spawns(struct actor *a)
{
	const struct haul_coro_opts opts = draw_opts(a);
	void *seed = draw_seed(a);
	struct haul_coro *co;
	int err;

	switch (below(a, 3)) {
	case 0:
		err = haul_self() ? haul_spawn(&co, soak_leaf, seed, &opts)
				  : haul_spawn_any(s.rt, &co, soak_leaf, seed, &opts);
		break;
	case 1:
		err = haul_spawn_on(draw_carrier(a), &co, soak_leaf, seed, &opts);
		break;
	default:
		err = haul_spawn_any(draw_runtime(a), &co, soak_leaf, seed, &opts);
		break;
	}
	if (spawned(err))
		end_handle(a, co, result_of(seed));
}

static void spawns_many(struct actor *a)
{
	const struct haul_coro_opts opts = draw_opts(a);
	struct haul_coro *co[10];
	void *seeds[10];
	unsigned n = 1 + below(a, 10);

	for (unsigned i = 0; i < n; i++)
		seeds[i] = draw_seed(a);
	if (!spawned(haul_spawn_many(draw_runtime(a), co, soak_leaf, seeds, n, &opts)))
		return;
	for (unsigned i = 0; i < n; i++)
		end_handle(a, co[i], result_of(seeds[i]));
}

static void *joins_for_another(void *co)
{
	void *result = NULL;

	s.alive++;
	RIGHT(haul_join(co, &result, HAUL_FOREVER) == 0);
	s.alive--;
	return result;
}

/* This one's deadline passes, and another one joins. */
static void hands_over(struct actor *a)
{
	void *seed = draw_seed(a), *result = NULL;
	struct haul_coro *co, *other;
	int err = below(a, 2) ? haul_spawn_many(draw_runtime(a), &co, soak_leaf, &seed, 1, NULL)
			      : haul_spawn_on(draw_carrier(a), &co, soak_leaf, seed, NULL);

	if (!spawned(err))
		return;
	if (done(haul_join(co, &result, haul_in(below(a, 30) * HAUL_US))))
		RIGHT(result == result_of(seed));
	else if (spawned(haul_spawn_on(draw_carrier(a), &other, joins_for_another, co, NULL)))
		join_at_last(other, result_of(seed));
	else
		join_at_last(co, result_of(seed));
}

static void *parks(void *arg)
{
	atomic_bool *go = arg;
	struct actor a = actor(s.seed + s.draws++, 2);

	s.alive++;
	while (!*go) {
		int err = haul_park(below(&a, 3) ? HAUL_FOREVER : draw_deadline(&a));

		if (!done(err) && haul_cancelled())
			break;
	}
	s.alive--;
	return arg;
}

static void unparks(struct actor *a)
{
	const struct haul_coro_opts opts = draw_opts(a);
	atomic_bool go = false;
	struct haul_coro *co;

	if (!spawned(haul_spawn_on(draw_carrier(a), &co, parks, &go, &opts)))
		return;
	for (unsigned n = below(a, 4); n > 0; n--) {
		haul_unpark(co);
		soak_computes(a);
	}
	go = true;
	haul_unpark(co);
	if (below(a, 4) == 0)
		haul_cancel(co);
	join_at_last(co, &go);
}

static void sleeps(struct actor *a)
{
	done(below(a, 2) ? haul_sleep(draw_ns(a)) : haul_sleep_until(haul_in(draw_ns(a))));
}

static void yields(struct actor *a)
{
	soak_computes(a);
	if (below(a, 2))
		haul_yield();
	else
		(void)haul_maybe_yield(false);
}

/* Where nothing is rescued, hogs only cost time. */
static void may_hog(struct actor *a)
{
	if (s.rescues)
		hogs(a);
	else
		soak_computes(a);
}

static void guards(struct actor *a, unsigned m)
{
	uint64_t before = s.guarded[m];

	if (below(a, 4) == 0)
		haul_yield();
	soak_computes(a);
	s.guarded[m] = before + 1;
	s.locks[m]++;
	haul_mutex_unlock(&s.mutexes[m]);
}

void soak_locks(struct actor *a)
{
	unsigned m = below(a, SOAK_MUTEXES);

	if (below(a, 2)) {
		haul_mutex_lock(&s.mutexes[m]);
		guards(a, m);
	} else if (done(haul_mutex_lock_by(&s.mutexes[m], draw_deadline(a)))) {
		guards(a, m);
	}
}

static void has_unit(struct actor *a, unsigned i)
{
	RIGHT(s.in_use[i]++ < soak_units[i]);
	if (haul_self() && below(a, 3) == 0)
		haul_yield();
	soak_computes(a);
	s.in_use[i]--;
	haul_sem_post(&s.sems[i]);
}

static void takes_unit(struct actor *a)
{
	unsigned i = below(a, SOAK_SEMS);

	if (done(haul_sem_wait(&s.sems[i], haul_self() ? draw_deadline(a) : 0)))
		has_unit(a, i);
}

static void uses_event(struct actor *a)
{
	switch (below(a, 3)) {
	case 0:
		haul_event_set(&s.event);
		break;
	case 1:
		haul_event_reset(&s.event);
		break;
	default:
		done(haul_event_wait(&s.event, haul_self() ? draw_deadline(a) : 0));
		break;
	}
}

static void uses_queue(struct actor *a)
{
	haul_mutex_lock(&s.queue_lock);
	if (below(a, 2)) {
		s.queued++;
		s.put++;
		if (below(a, 4))
			haul_cond_signal(&s.queue_grows);
		else
			haul_cond_broadcast(&s.queue_grows);
	} else {
		while (s.queued == 0 &&
			done(haul_cond_wait(&s.queue_grows, &s.queue_lock, draw_deadline(a))))
			;
		if (s.queued > 0) {
			s.queued--;
			s.taken++;
		}
	}
	haul_mutex_unlock(&s.queue_lock);
}

/* A value of its own, or SOAK_VALUES if there are no more. */
static unsigned new_value(void)
{
	unsigned v = s.values;

	while (v < SOAK_VALUES && !atomic_compare_exchange_weak(&s.values, &v, v + 1))
		;
	return v;
}

void soak_has_received(unsigned v)
{
	RIGHT(v < SOAK_VALUES && s.received[v]++ == 0);
}

void soak_sends(struct actor *a)
{
	struct haul_chan *ch = s.chans[below(a, SOAK_CHANS)];
	unsigned v = new_value();

	if (v < SOAK_VALUES && done(haul_chan_send(ch, &v, haul_self() ? draw_deadline(a) : 0)))
		s.sent[v] = 1;
}

static void receives(struct actor *a)
{
	struct haul_chan *ch = s.chans[below(a, SOAK_CHANS)];
	unsigned v = SOAK_VALUES;

	if (done(haul_chan_recv(ch, &v, haul_self() ? draw_deadline(a) : 0)))
		soak_has_received(v);
}

enum choice { RECEIVE, SEND, EVENT, UNIT, LOCK };

static void has_chosen(struct actor *a, enum choice how, unsigned which, unsigned value)
{
	switch (how) {
	case RECEIVE:
		soak_has_received(value);
		break;
	case SEND:
		s.sent[value] = 1;
		break;
	case EVENT:
		break;
	case UNIT:
		has_unit(a, which);
		break;
	case LOCK:
		guards(a, which);
		break;
	}
}

static struct haul_case make_case(
	struct actor *a, enum choice *how, unsigned *which, unsigned *value)
{
	*how = (enum choice)below(a, 5);
	*value = *how == SEND ? new_value() : SOAK_VALUES;
	if (*how == SEND && *value == SOAK_VALUES)
		*how = EVENT;
	*which = below(a, *how == UNIT ? SOAK_SEMS : SOAK_MUTEXES);
	switch (*how) {
	case RECEIVE:
		return haul_case_recv(s.chans[*which], value);
	case SEND:
		return haul_case_send(s.chans[*which], value);
	case UNIT:
		return haul_case_sem(&s.sems[*which]);
	case LOCK:
		return haul_case_mutex(&s.mutexes[*which]);
	default:
		return haul_case_event(&s.event);
	}
}

static void selects(struct actor *a)
{
	struct haul_case cases[6];
	enum choice how[6];
	unsigned which[6], values[6], n = 1 + below(a, 6);
	int chosen;

	for (unsigned i = 0; i < n; i++)
		cases[i] = make_case(a, &how[i], &which[i], &values[i]);
	chosen = haul_select(cases, n, draw_deadline(a));
	if (chosen < 0) {
		done(chosen);
		return;
	}
	RIGHT((unsigned)chosen < n && cases[chosen].err == 0);
	has_chosen(a, how[chosen], which[chosen], values[chosen]);
}

static void release_bumps(void *bumps)
{
	s.bumps_released += (uintptr_t)bumps;
}

static struct haul_local bumps = HAUL_LOCAL(release_bumps);

/* A counter of the carrier: nothing comes in between, wherever the caller runs. */
void soak_bumps(struct actor *a)
{
	HAUL_NO_SUSPEND();
	uintptr_t n = (uintptr_t)haul_local_get(&bumps);

	soak_computes(a);
	RIGHT(haul_local_set(&bumps, (void *)(n + 1)) == 0);
	s.bumps++;
}

static void is_pinned(struct actor *a)
{
	haul_pin();
	for (unsigned n = below(a, 4); n > 0; n--) {
		RIGHT(haul_carrier_self() == haul_coro_home(haul_self()));
		yields(a);
	}
	soak_bumps(a);
	haul_unpin();
}

static int counts_each(void *arg)
{
	(*(atomic_uint *)arg)++;
	haul_yield();
	return 0;
}

static void runs_on_each(struct actor *a)
{
	struct haul_runtime *rt = draw_runtime(a);
	atomic_uint n = 0;

	if (spawned(haul_on_each(rt, counts_each, &n)))
		RIGHT(n == haul_carriers(rt));
}

/* On a thread of the pool. */
static void works_elsewhere(void *arg)
{
	struct actor *a = arg;

	RIGHT(!haul_self() && !haul_carrier_self());
	soak_computes(a);
	if (below(a, 4) == 0)
		haul_event_set(&s.event);
	a->depth++;
}

static void offloads(struct actor *a)
{
	unsigned before = a->depth;
	uint64_t deadline = draw_deadline(a);

	if (done(haul_offload(works_elsewhere, a, deadline)))
		RIGHT(a->depth-- == before + 1);
	else
		RIGHT(a->depth == before);
}

static void *polls_some(void *arg)
{
	unsigned n = (unsigned)(uintptr_t)arg;

	s.alive++;
	while (n-- > 0 && haul_maybe_yield(n % 3 == 0))
		;
	s.alive--;
	return arg;
}

/* Most carriers have a poller already, or have one soon. */
static void registers_poller(struct actor *a)
{
	void *cycles = (void *)(uintptr_t)(1 + below(a, 50));
	struct haul_coro *poller;
	int err;

	if (s.has_pollers) /* that are stopped and resumed: nobody may come between */
		return;
	err = haul_poller_register(draw_carrier(a), &poller, polls_some, cycles, NULL);
	RIGHT(err == 0 || err == -EBUSY || err == -ECANCELED);
	if (err)
		return;
	if (below(a, 4) == 0)
		haul_cancel(poller);
	join_at_last(poller, cycles);
}

__attribute__((weak)) void soak_throws(struct actor *a); /* where there is C++ */
unsigned soak_draw(struct actor *a, unsigned n);
void soak_is_wrong(const char *what);

unsigned soak_draw(struct actor *a, unsigned n)
{
	return below(a, n);
}

void soak_is_wrong(const char *what)
{
	wrong(what, "soak_throws.cc", 0);
}

static void soak_may_throw(struct actor *a)
{
	if (soak_throws)
		soak_throws(a);
}

struct op soak_ops[] = {
	{"spawn and end", spawns, 0},
	{"spawn many", spawns_many, 0},
	{"hand over", hands_over, 0},
	{"unpark", unparks, 0},
	{"sleep", sleeps, 0},
	{"yield", yields, 0},
	{"hog", may_hog, 0},
	{"lock", soak_locks, 0},
	{"unit", takes_unit, 0},
	{"event", uses_event, 0},
	{"queue", uses_queue, 0},
	{"send", soak_sends, 0},
	{"receive", receives, 0},
	{"select", selects, 0},
	{"pin", is_pinned, 0},
	{"bump", soak_bumps, 0},
	{"poller", registers_poller, 0},
	{"each", runs_on_each, 0},
	{"offload", offloads, 0},
	{"descriptor", soak_uses_descriptors, 0},
	{"known", soak_is_known, 0},
	{"poke", soak_pokes, 0},
	{"itself", soak_changes_itself, 0},
	{"deep", soak_goes_deep, 0},
	{"throw", soak_may_throw, 0},
	{"value", soak_has_value, 0},
	{"shield", soak_is_shielded, 0},
	{"scope", soak_opens_scope, 0},
};

const unsigned soak_nb_ops = sizeof(soak_ops) / sizeof(soak_ops[0]);

#define NESTS 4 /* the last ones do steps themselves */
#define DEPTH 2

static void run(struct actor *a, struct op *op)
{
	HAUL_TRACE_SPAN("operation");
	HAUL_TRACE_COUNT("operations", (int64_t)op->times);
	op->run(a);
	op->times++;
}

void soak_steps(struct actor *a, unsigned n)
{
	unsigned most = soak_nb_ops - (a->depth < DEPTH ? 0 : NESTS);

	a->depth++;
	for (; n > 0; n--)
		run(a, &soak_ops[below(a, most)]);
	a->depth--;
}

void soak_from_outside(struct actor *a)
{
	static void (*const also_outside[])(struct actor * a) = {spawns, spawns_many, hands_over,
		takes_unit, uses_event, soak_sends, receives, runs_on_each, unparks, soak_pokes,
		soak_uses_descriptors};

	also_outside[below(a, sizeof(also_outside) / sizeof(also_outside[0]))](a);
}
