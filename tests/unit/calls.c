/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Detached coroutines without options are calls until they begin (entry.h). They must be like those
 * that have a struct haul_coro from the start. Programs by chance run twice: with room for calls,
 * and without. Both orders of slices, their counts and the ends of batches must be equal, and each
 * coroutine must begin as new.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "coro/frozen.h"
#include "coro/trace.h"
#include "support/runtime.h"

#include "programs.h"

#define PROGRAMS 2000
#define CROWD 300 /* more than the ring has room for */

static void spawns(struct node *me, const struct haul_coro_opts *opts)
{
	struct node *new = child(&me->seed, me->depth, true);

	if (new)
		t.wrong += haul_spawn(NULL, acts, new, opts) != 0;
}

static void joins(struct node *me)
{
	struct node *new = child(&me->seed, me->depth, false);
	struct haul_coro *co;
	void *result;

	if (!new)
		return;
	t.wrong += haul_spawn(&co, acts, new, NULL) != 0;
	if (draw(&me->seed, 2))
		haul_yield(), note(me->id);
	t.wrong += haul_join(co, &result, HAUL_FOREVER) != 0 || result != new;
	note(me->id);
}

static void spawns_crowd(struct node *me)
{
	unsigned depth = me->depth;

	if (draw(&me->seed, 16))
		return;
	me->depth = DEPTH - 1; /* they spawn none */
	for (unsigned i = 0; i < CROWD; i++)
		spawns(me, NULL);
	me->depth = depth;
}

static void step(struct node *me)
{
	static const struct haul_coro_opts named = {.name = "named"},
					   large = {.stack_size = 100 * 1024};

	switch (draw(&me->seed, 12)) {
	default:
		spawns(me, NULL);
		break;
	case 0:
		spawns(me, &named);
		break;
	case 1:
		spawns(me, &large);
		break;
	case 2:
	case 3:
		joins(me);
		break;
	case 4:
		spawns_crowd(me);
		break;
	case 5:
		haul_unpark(t.sleeper);
		break;
	case 6:
		haul_pin(); /* until it ends */
		break;
	case 7:
		haul_unpark(haul_self()); /* which it does not take */
		break;
	case 8:
		haul_yield();
		note(me->id);
		break;
	}
}

/* True if the running coroutine is as new. */
static bool is_new(const struct node *n)
{
	const struct haul_coro *me = haul_carrier_self()->current;

	return hauli_coro_word(me) == HAULI_CORO_FRESH(n->detached) && me->fn == acts &&
		me->arg == n && (!strcmp(me->co.name, "-") || !strcmp(me->co.name, "named")) &&
		(!n->detached || hauli_tagged_get(&me->joiner) == 0) &&
		!hauli_requests_pending(&me->requests);
}

static void *acts(void *arg)
{
	struct node me = *(struct node *)arg;
	unsigned steps = draw(&me.seed, 9);

	t.wrong += !is_new(arg);
	note(me.id);
	while (steps-- > 0)
		step(&me);
	t.live--;
	return arg;
}

/* As calls, or otherwise. */
static uint64_t run_program(unsigned seed, bool other, unsigned phase)
{
	struct haul_carrier *c = haul_carrier_self();
	struct node root = {.seed = seed};
	uint64_t slices = begin_program(c, phase);
	uint32_t room;

	hauli_runq_refuse(&c->runq, other);
	spawns(&root, NULL);
	spawns(&root, NULL);
	slices = end_program(c, slices);
	room = c->runq.until - hauli_ring_head(&c->runq.ring);
	t.wrong += other ? (int32_t)room > 0 : room > HAULI_RUNQ_ROOM || room < HAULI_RUNQ_ROOM - 8;
	t.wrong += c->spawn.as_new && hauli_coro_home(c->spawn.as_new);
	return slices;
}

static void *tries_all(void *arg)
{
	static const char *const way[] = {"as calls", "otherwise"};

	try_programs(PROGRAMS, way);
	return NULL;
}

static struct haul_runtime *rt;

static void start_with(size_t stack_size)
{
	struct haul_plan_opts opts = {.carriers = 1};
	struct haul_plan *plan = NULL;
	char why[256] = "";

	memset(&t, 0, sizeof(t));
	ck_assert_msg(haul_plan_create(&plan, &opts, why, sizeof(why)) == 0, "%s", why);
	ck_assert_int_eq(haul_start(&rt,
				 &(struct haul_runtime_opts){.plan = plan,
					 .stack_size = stack_size,
					 .watchdog_ns = HAUL_FOREVER},
				 NULL, 0),
		0);
	haul_plan_destroy(plan);
}

static void start(void)
{
	start_with(0);
}

START_TEST(a_call_is_like_any_spawn)
{
	start();
	run_on(rt, 0, tries_all, NULL);
	ck_assert_uint_eq(t.wrong, 0);
	runtime_stop(rt);
}
END_TEST

static struct {
	struct haul_coro *first, *second;
	const char *name;
	atomic_bool asked, sent;
	bool permit;
} k;

static void *unparks(void *arg)
{
	while (!k.asked)
		;
	haul_unpark(k.first);
	k.sent = true;
	return NULL;
}

/* Ends while a request is under way to it. */
static void *is_unparked(void *arg)
{
	k.first = haul_self();
	k.asked = true;
	while (!k.sent)
		;
	return NULL;
}

static void *sees(void *arg)
{
	k.second = haul_self();
	k.name = haul_coro_name(k.second);
	k.permit = haul_park(0) == 0;
	return NULL;
}

static void *nothing(void *arg)
{
	return NULL;
}

/* others: so many calls end before on the same stack. at_once: the next one is ready by then. */
static void *asks_for_one_that_ends(unsigned others, bool at_once)
{
	pthread_t thread;

	k.asked = k.sent = false;
	if (pthread_create(&thread, NULL, unparks, NULL))
		return "a thread";
	for (unsigned i = 0; i < others; i++)
		haul_spawn(NULL, nothing, NULL, NULL);
	haul_spawn(NULL, is_unparked, NULL, NULL);
	if (!at_once)
		hauli_suspend(haul_carrier_self(), haul_carrier_self()->current, true);
	haul_spawn(NULL, sees, NULL, NULL);
	haul_yield();
	pthread_join(thread, NULL);
	return k.second == k.first || k.permit ? "the next one got the request" : NULL;
}

static void *asks_all(void *arg)
{
	void *wrong = NULL;

	for (unsigned i = 0; i < 4 && !wrong; i++) {
		hauli_end_batch(haul_carrier_self(), haul_carrier_self()->current);
		wrong = asks_for_one_that_ends(i / 2 * 3, i % 2);
	}
	return wrong;
}

START_TEST(a_request_to_one_that_ends_is_not_for_the_next)
{
	start();
	ck_assert_pstr_eq(run_on(rt, 0, asks_all, NULL), NULL);
	runtime_stop(rt);
}
END_TEST

static void *parks(void *arg)
{
	*(struct haul_coro **)arg = haul_self();
	haul_park(HAUL_FOREVER);
	return NULL;
}

/* The second time that of the call is the object of the named one, which has ended before. */
static void *spawns_named_ones(void *arg)
{
	static const struct haul_coro_opts named = {.name = "named"};
	struct haul_coro *parked;

	for (unsigned i = 0; i < 2; i++) {
		k.name = NULL;
		haul_spawn(NULL, parks, &parked, NULL); /* has the object that was as new */
		haul_yield();
		haul_spawn(NULL, nothing, NULL, &named);
		if (i)
			haul_yield();
		haul_spawn(NULL, sees, NULL, NULL);
		haul_yield();
		haul_unpark(parked);
		haul_yield();
		if (!k.name || strcmp(k.name, "-") != 0)
			return "a name";
	}
	return NULL;
}

START_TEST(a_call_has_no_name)
{
	start();
	ck_assert_pstr_eq(run_on(rt, 0, spawns_named_ones, NULL), NULL);
	runtime_stop(rt);
}
END_TEST

#define MANY 250u

static struct haul_coro *waiting[2 * MANY];
static bool has_begun[2 * MANY];
static unsigned begun, ended;

static void *waits(void *arg)
{
	unsigned i = begun++, number = (unsigned)(uintptr_t)arg;

	t.wrong += has_begun[number];
	has_begun[number] = true;
	waiting[i] = haul_self();
	haul_park(HAUL_FOREVER);
	ended++;
	return NULL;
}

static void unpark_all(void)
{
	unsigned n = begun;

	for (unsigned i = ended; i < n; i++)
		haul_unpark(waiting[i]);
	while (ended < n)
		haul_yield();
}

static void spawn_many(unsigned from)
{
	for (unsigned i = from; i < from + MANY; i++)
		ASSERT_EACH(haul_spawn(NULL, waits, (void *)(uintptr_t)i, NULL) == 0);
}

/* The first time some begin only when there is memory; spawns make calls again later. */
static void *needs_memory(void *arg)
{
	struct haul_carrier *c = haul_carrier_self();
	struct rlimit none = {1 << 20, RLIM_INFINITY}, before;
	unsigned early;
	bool room;

	getrlimit(RLIMIT_AS, &before);
	none.rlim_max = before.rlim_max;
	begun = ended = 0;
	spawn_many(0);
	setrlimit(RLIMIT_AS, &none);
	for (unsigned i = 0; i < 100; i++)
		haul_yield();
	early = begun;
	room = c->runq.room == HAULI_RUNQ_ROOM;
	setrlimit(RLIMIT_AS, &before);
	spawn_many(MANY);
	while (begun < 2 * MANY) {
		haul_yield();
		t.wrong += c->spawn.put_off_left > 0 && c->runq.room == HAULI_RUNQ_ROOM;
	}
	unpark_all();
	if (early == MANY || room || c->runq.room != HAULI_RUNQ_ROOM)
		return "none was put off, or it is not known that all have begun";
	if (t.wrong)
		return "one began twice";
	return c->spawn.put_off ? "put-off calls are left" : NULL;
}

START_TEST(without_memory_they_begin_later)
{
	if (HAULI_ASAN || HAULI_TSAN)
		return; /* their shadow needs memory, too */
	start_with(1000 * 1024);
	ck_assert_pstr_eq(run_on(rt, 0, needs_memory, NULL), NULL);
	runtime_stop(rt);
}
END_TEST

static bool not_own(const void *pc)
{
	return false;
}

/* Of one that has begun by a switch, and of one that has become another call's. */
static void *compares_stacks(void *arg)
{
	void *room[2][16], *const *pcs[2] = {room[0], room[1]};
	unsigned n[2];

	begun = ended = 0;
	haul_spawn(NULL, waits, (void *)0, NULL);
	haul_yield();
	haul_spawn(NULL, nothing, NULL, NULL);
	haul_spawn(NULL, waits, (void *)1, NULL);
	haul_yield();
	for (unsigned i = 0; i < 2; i++) {
		n[i] = hauli_co_trace(&waiting[i]->co, room[i], 16);
		hauli_trace_trim(&pcs[i], &n[i], 1, not_own);
	}
	unpark_all();
	return n[0] != n[1] || memcmp(pcs[0], pcs[1], n[0] * sizeof(pcs[0][0])) != 0
		? "their call stacks differ"
		: NULL;
}

START_TEST(a_call_stack_ends_with_the_function)
{
	start();
	hauli_trace_init();
	memset(has_begun, 0, sizeof(has_begun));
	ck_assert_pstr_eq(run_on(rt, 0, compares_stacks, NULL), NULL);
	runtime_stop(rt);
}
END_TEST

static unsigned cancelled, back;
static atomic_bool spawner_runs;

static void *is_cancelled(void *arg)
{
	bool now = haul_cancelled();

	cancelled += now;
	back += !now && cancelled > 0;
	t.wrong += now && haul_spawn(NULL, nothing, NULL, NULL) != -ECANCELED;
	begun++;
	return NULL;
}

/* Until the stop has begun. Pinned: the home of a stolen one may have heard of the stop already. */
static void *spawns_until_the_stop(void *arg)
{
	struct haul_carrier *c = haul_carrier_self();

	spawner_runs = true;
	while (hauli_inbox_is_empty(&c->mail.inbox))
		;
	for (unsigned i = 0; i < MANY; i++)
		ASSERT_EACH(haul_spawn(NULL, is_cancelled, NULL, NULL) == 0);
	return NULL;
}

START_TEST(a_stop_cancels_those_that_have_not_begun)
{
	const struct haul_coro_opts pinned = {.pinned = true};

	start();
	begun = cancelled = back = 0;
	spawner_runs = false;
	ck_assert_int_eq(
		haul_spawn_on(haul_carrier(rt, 0), NULL, spawns_until_the_stop, NULL, &pinned), 0);
	while (!spawner_runs) /* so that the next message is the stop's */
		sched_yield();
	runtime_stop(rt);
	ck_assert_uint_eq(begun, MANY);
	ck_assert_uint_ge(cancelled, MANY - HAULI_SLICES_PER_BATCH);
	ck_assert_uint_eq(back, 0);
	ck_assert_uint_eq(t.wrong, 0);
}
END_TEST

SUITE_MAIN("calls", {a_call_is_like_any_spawn, 1},
	{a_request_to_one_that_ends_is_not_for_the_next, 1}, {a_call_has_no_name, 1},
	{without_memory_they_begin_later, 1}, {a_call_stack_ends_with_the_function, 1},
	{a_stop_cancels_those_that_have_not_begun, 1})
