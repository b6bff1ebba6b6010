/* SPDX-License-Identifier: BSD-3-Clause */
/* haul_look(): numbers by state and name, the oldest waits, and looks at coroutines that come and
 * go with their names. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/random.h"
#include "sched/state/coroutine.h"
#include "support/runtime.h"
#include "support/stress.h"
#include "support/suite.h"

static struct haul_mutex mutex;
static struct haul_event event;
static struct haul_coro *holder;

static void *parks(void *arg)
{
	return (void *)(intptr_t)haul_park(HAUL_FOREVER);
}

static void *sleeps(void *arg)
{
	return (void *)(intptr_t)haul_sleep(1000 * HAUL_S);
}

static void *joins(void *arg)
{
	return (void *)(intptr_t)haul_join(arg, NULL, HAUL_FOREVER);
}

static void *holds(void *arg)
{
	haul_mutex_lock(&mutex);
	haul_event_wait(&event, HAUL_FOREVER);
	haul_mutex_unlock(&mutex);
	return NULL;
}

static void *locks(void *arg)
{
	haul_mutex_lock(&mutex);
	haul_mutex_unlock(&mutex);
	return NULL;
}

static int child(void *arg)
{
	return haul_event_wait(&event, HAUL_FOREVER);
}

static void *has_children(void *arg)
{
	HAUL_SCOPE(s, HAUL_FOREVER, HAUL_SCOPE_ALL);

	haul_scope_spawn(&s, child, NULL, &(struct haul_coro_opts){.name = "child"});
	return (void *)(intptr_t)haul_scope_join(&s);
}

static struct haul_coro *begin(
	struct haul_runtime *rt, unsigned carrier, const char *name, haul_fn *fn, void *arg)
{
	const struct haul_coro_opts opts = {.name = name};
	struct haul_coro *co;

	ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, carrier), &co, fn, arg, &opts), 0);
	return co;
}

enum { GROUPS = 8, WAITS = 16, CAUSES = 16 };

static struct haul_look_group groups[GROUPS];
static struct haul_look_wait waits[WAITS];
static struct haul_look_cause causes[CAUSES];
static struct haul_look_counts carriers[2];

static struct haul_look look(const struct haul_runtime *rt, enum haul_look_waits which)
{
	struct haul_look l = {.carriers = carriers,
		.groups = groups,
		.waits = waits,
		.causes = causes,
		.nb_carriers = 2,
		.groups_max = GROUPS,
		.waits_max = WAITS,
		.causes_max = CAUSES,
		.which = which};

	haul_look(rt, &l);
	return l;
}

static const struct haul_look_counts *named(const struct haul_look *l, const char *name)
{
	for (unsigned i = 0; i < l->nb_groups; i++)
		if (strcmp(l->groups[i].name, name) == 0)
			return &l->groups[i].counts;
	return NULL;
}

static const struct haul_look_wait *wait_of(const struct haul_look *l, const void *co)
{
	for (unsigned i = 0; i < l->nb_waits; i++)
		if (l->waits[i].coro == co)
			return &l->waits[i];
	return NULL;
}

/* The first seven begin with carrier 0, 1, 0, ... */
static struct haul_coro *all[7];

static struct haul_runtime *start(void)
{
	struct haul_runtime *rt = runtime_start(2);

	mutex = (struct haul_mutex){0};
	event = (struct haul_event){0};
	all[0] = begin(rt, 0, "parker", parks, NULL);
	all[1] = begin(rt, 1, "sleeper", sleeps, NULL);
	all[2] = begin(rt, 0, "joiner", joins, all[0]);
	all[3] = holder = begin(rt, 1, "holder", holds, NULL);
	while (look(rt, HAUL_LOOK_ALL).all.waiting != 4)
		sched_yield();
	all[4] = begin(rt, 0, "locker \x01\xff\"", locks, NULL);
	all[5] = begin(rt, 1, "owner", has_children, NULL);
	all[6] = begin(rt, 0, "parker", parks, NULL);
	while (look(rt, HAUL_LOOK_ALL).all.waiting != 8)
		sched_yield();
	return rt;
}

static void stop(struct haul_runtime *rt)
{
	haul_event_set(&event);
	haul_unpark(all[0]);
	haul_unpark(all[6]);
	haul_cancel(all[1]);
	for (unsigned i = 1; i < 7; i++)
		ck_assert_int_eq(haul_join(all[i], NULL, HAUL_FOREVER), 0);
	runtime_stop(rt);
}

START_TEST(numbers)
{
	struct haul_runtime *rt = start();
	struct haul_look l = look(rt, HAUL_LOOK_ALL);
	const struct haul_look_counts *c = &l.all;

	ck_assert_uint_eq(c->parked, 2);
	ck_assert_uint_eq(c->sleeping, 1);
	ck_assert_uint_eq(c->joining, 1);
	ck_assert_uint_eq(c->blocked, 4);
	ck_assert_uint_eq(c->waiting, 8);
	ck_assert_uint_eq(c->ready, 0);
	ck_assert_uint_eq(c->timers, 1);
	ck_assert_uint_le(c->first_timer_ns, 1000 * HAUL_S);
	ck_assert_uint_gt(c->first_timer_ns, 900 * HAUL_S);
	ck_assert_uint_eq(carriers[0].waiting, 4);
	ck_assert_uint_eq(carriers[1].waiting, 4);
	ck_assert_uint_eq(carriers[0].timers, 0);
	ck_assert_uint_eq(carriers[0].first_timer_ns, HAUL_FOREVER);
	ck_assert_uint_eq(l.nb_groups, 7);
	ck_assert_uint_eq(named(&l, "parker")->parked, 2);
	ck_assert_uint_eq(named(&l, "child")->blocked, 1);
	ck_assert_uint_eq(named(&l, "locker ??\"")->blocked, 1);
	ck_assert_uint_eq(l.other_names, 0);
	stop(rt);
}
END_TEST

START_TEST(waits_and_what_for)
{
	struct haul_runtime *rt = start();
	struct haul_look l = look(rt, HAUL_LOOK_ALL);
	const struct haul_look_wait *w;

	ck_assert_uint_eq(l.nb_waits, 8);
	for (unsigned i = 1; i < l.nb_waits; i++)
		ck_assert_uint_le(waits[i].ns, waits[i - 1].ns);
	ck_assert_str_eq(wait_of(&l, all[0])->what, "parked");
	w = wait_of(&l, all[1]);
	ck_assert_str_eq(w->what, "sleeping");
	ck_assert_uint_lt(w->left_ns, HAUL_FOREVER);
	ck_assert_uint_eq(w->carrier, 1);
	w = wait_of(&l, all[2]);
	ck_assert_str_eq(w->what, "the end of");
	ck_assert_ptr_eq(w->object, all[0]);
	ck_assert_uint_eq(w->left_ns, HAUL_FOREVER);
	w = wait_of(&l, all[4]);
	ck_assert_str_eq(w->what, "mutex");
	ck_assert_ptr_eq(w->object, &mutex);
	ck_assert_ptr_eq(w->holder, holder);
	ck_assert_str_eq(w->holder_name, "holder");
	w = wait_of(&l, holder);
	ck_assert_str_eq(w->what, "event");
	ck_assert_ptr_eq(w->object, &event);
	ck_assert_ptr_null(w->holder);

	l = look(rt, HAUL_LOOK_MUTEXES);
	ck_assert_uint_eq(l.nb_waits, 1);
	ck_assert_ptr_eq(waits[0].coro, all[4]);
	l = look(rt, HAUL_LOOK_SCOPES);
	ck_assert_uint_eq(l.nb_waits, 1);
	ck_assert_ptr_eq(waits[0].coro, all[5]);
	stop(rt);
}
END_TEST

static uint64_t waiting_for(const struct haul_look *l, const char *what)
{
	for (unsigned i = 0; i < l->nb_causes; i++)
		if (strcmp(causes[i].what, what) == 0)
			return causes[i].waiting;
	return 0;
}

START_TEST(causes_add_up)
{
	struct haul_runtime *rt = start();
	struct haul_look l = look(rt, HAUL_LOOK_ALL);
	uint64_t n = 0, longest = 0;

	ck_assert_uint_eq(waiting_for(&l, "parked"), 2);
	ck_assert_uint_eq(waiting_for(&l, "sleeping"), 1);
	ck_assert_uint_eq(waiting_for(&l, "joining"), 1);
	ck_assert_uint_eq(waiting_for(&l, "mutex"), 1);
	ck_assert_uint_eq(waiting_for(&l, "event"), 2);
	ck_assert_uint_eq(waiting_for(&l, "the children of scope"), 1);
	ck_assert_uint_eq(l.nb_causes, 7);
	ck_assert_str_eq(causes[3].what, "ordered");
	ck_assert_uint_eq(causes[3].waiting, 0);
	for (unsigned i = 0; i < l.nb_causes; i++) {
		n += causes[i].waiting;
		longest = causes[i].longest_ns > longest ? causes[i].longest_ns : longest;
	}
	ck_assert_uint_eq(n, l.all.waiting);
	ck_assert_uint_eq(longest, l.all.longest_ns);
	l.causes_max = 1;
	haul_look(rt, &l);
	ck_assert_uint_eq(l.nb_causes, 1);
	stop(rt);
}
END_TEST

START_TEST(less_room_than_there_is_to_tell)
{
	struct haul_runtime *rt = start();
	struct haul_look l = {.groups = groups, .waits = waits, .groups_max = 3, .waits_max = 2};

	haul_look(rt, &l);
	ck_assert_uint_eq(l.all.waiting, 8);
	ck_assert_uint_eq(l.nb_groups, 3);
	ck_assert_uint_ge(l.other_names, 4);
	ck_assert_uint_eq(l.nb_waits, 2);
	ck_assert_uint_ge(waits[0].ns, waits[1].ns);
	l = (struct haul_look){0};
	haul_look(rt, &l);
	ck_assert_uint_eq(l.all.waiting, 8);
	ck_assert_uint_eq(l.other_names, 8);
	stop(rt);
}
END_TEST

static void *quick(void *arg)
{
	return NULL;
}

START_TEST(ended_and_not_begun)
{
	struct haul_runtime *rt = runtime_start(1);
	struct haul_coro *co = begin(rt, 0, "quick", quick, NULL);
	struct haul_look l;

	do {
		l = look(rt, HAUL_LOOK_ALL);
	} while (l.all.unjoined != 1);
	ck_assert_uint_eq(l.all.ready, 0);
	ck_assert_uint_eq(l.all.waiting, 0);
	ck_assert_int_eq(haul_join(co, NULL, HAUL_FOREVER), 0);
	ck_assert_uint_eq(look(rt, HAUL_LOOK_ALL).all.unjoined, 0);
	runtime_stop(rt);
}
END_TEST

static atomic_bool hogs, hogged;

static void *hog(void *arg)
{
	hogged = true;
	while (hogs)
		;
	return NULL;
}

/* Spawned from outside, while no carrier takes them. */
START_TEST(those_without_a_home_yet)
{
	struct haul_runtime *rt = runtime_start(1);
	struct haul_coro *hogging, *many[3];
	struct haul_look l;

	hogs = true;
	hogged = false;
	hogging = begin(rt, 0, "hog", hog, NULL);
	while (!hogged)
		sched_yield();
	ck_assert_int_eq(haul_spawn_many(rt, many, quick, NULL, 3,
				 &(struct haul_coro_opts){.name = "homeless"}),
		0);
	l = look(rt, HAUL_LOOK_ALL);
	ck_assert_uint_eq(l.all.ready, 4);
	ck_assert_uint_eq(l.not_begun, 0);
	ck_assert_uint_eq(carriers[0].ready, 1);
	ck_assert_ptr_nonnull(named(&l, "homeless"));
	ck_assert_uint_eq(named(&l, "homeless")->ready, 3);
	hogs = false;
	ck_assert_int_eq(haul_join(hogging, NULL, HAUL_FOREVER), 0);
	for (unsigned i = 0; i < 3; i++)
		ck_assert_int_eq(haul_join(many[i], NULL, HAUL_FOREVER), 0);
	runtime_stop(rt);
}
END_TEST

/* A coroutine with a name that is unmapped once it has ended, which waits in some way. */
struct brief {
	struct haul_coro_opts opts;
	struct haul_coro *co;
	unsigned way;
};

static struct haul_mutex contended;

static int nothing(void *arg)
{
	return haul_yield(), 0;
}

static void *waits_briefly(void *arg)
{
	const struct brief *b = arg;

	switch (b->way) {
	case 0:
		haul_sleep(20 * HAUL_US);
		break;
	case 1:
		haul_park(haul_in(10 * HAUL_US));
		break;
	case 2:
		haul_mutex_lock(&contended);
		haul_yield();
		haul_mutex_unlock(&contended);
		break;
	case 3: {
		HAUL_SCOPE(s, haul_in(HAUL_MS), HAUL_SCOPE_FAIL_FAST);

		haul_scope_spawn(&s, nothing, NULL, NULL);
		haul_scope_join(&s);
		break;
	}
	default:
		break;
	}
	return NULL;
}

static void begin_brief(struct haul_runtime *rt, struct brief *b, struct hauli_random *random)
{
	char *name = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(name, MAP_FAILED);
	name += 4096 - (hauli_random_below(random, 2) ? 6 : 2048);
	strcpy(name, "brief");
	b->opts = (struct haul_coro_opts){.name = name};
	b->way = hauli_random_below(random, 5);
	ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, hauli_random_below(random, 2)), &b->co,
				 waits_briefly, b, &b->opts),
		0);
}

static void end_brief(struct brief *b)
{
	ck_assert_int_eq(haul_join(b->co, NULL, HAUL_FOREVER), 0);
	munmap((void *)((uintptr_t)b->opts.name & ~(uintptr_t)4095), 4096);
}

static atomic_bool ends;

static void *looks(void *arg)
{
	const struct haul_runtime *rt = arg;
	intptr_t n = 0;

	for (; !ends; n++) {
		struct haul_look l = look(rt, (enum haul_look_waits)(n % 3));

		ck_assert_uint_le(l.nb_waits, WAITS);
		ck_assert_uint_eq(l.all.waiting,
			l.all.parked + l.all.sleeping + l.all.joining + l.all.blocked +
				l.all.ordered);
		for (unsigned i = 0; i < l.nb_groups; i++)
			ck_assert_uint_lt(strlen(groups[i].name), HAUL_LOOK_TEXT);
		for (unsigned i = 0; i < l.nb_causes; i++)
			l.all.waiting -= causes[i].waiting;
		ck_assert_uint_le(l.all.waiting, l.all.blocked); /* less what ended meanwhile */
	}
	return (void *)n;
}

START_TEST(looks_at_what_comes_and_goes)
{
	enum haul_steal steal = _i && HAUL_STEALING ? HAUL_STEAL_CLUSTER : HAUL_STEAL_OFF;
	struct haul_runtime *rt = runtime_start_stealing(2, NULL, steal);
	struct hauli_random random;
	uint64_t until = stress_deadline();
	struct brief some[64];
	pthread_t thread;
	void *n;

	hauli_random_init(&random, stress_seed());
	contended = (struct haul_mutex){0};
	ends = false;
	ck_assert_int_eq(pthread_create(&thread, NULL, looks, rt), 0);
	while (haul_now() < until) {
		for (unsigned i = 0; i < 64; i++)
			begin_brief(rt, &some[i], &random);
		for (unsigned i = 0; i < 64; i++)
			end_brief(&some[i]);
	}
	ends = true;
	pthread_join(thread, &n);
	ck_assert_ptr_nonnull(n);
	ck_assert_uint_eq(look(rt, HAUL_LOOK_ALL).all.waiting, 0);
	runtime_stop(rt);
}
END_TEST

SUITE_MAIN("look", {numbers, 1}, {waits_and_what_for, 1}, {causes_add_up, 1},
	{less_room_than_there_is_to_tell, 1}, {ended_and_not_begun, 1},
	{those_without_a_home_yet, 1}, {looks_at_what_comes_and_goes, 2})
