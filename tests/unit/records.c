/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records: coroutines that get a stack when their turn comes, and often that of the one before.
 * Objects in memory stand for packets, and a poller for that of the glue.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>

#include "sched/glue.h"
#include "support/runtime.h"
#include "support/suite.h"

#define MANY 20000
#define BURST 32
#define CROWD 256 /* more than a step cancels */

struct object {
	char before[24]; /* the record is not at the beginning */
	struct hauli_record record;
	unsigned number;
};

static struct object objects[MANY];

static struct {
	struct haul_runtime *rt;
	struct hauli_prototype prototype;
	struct haul_coro_opts opts;
	haul_fn *fn;
	atomic_uint n;
	atomic_uint pushed, ended, dropped, wrong, cancelled, remote;
	atomic_uint has_run; /* as the entries count */
	unsigned pushes;
	atomic_bool open, told;
	struct haul_coro *volatile last;
} t;

static struct object *object_of(void *record)
{
	return HAULI_CONTAINER(record, struct object, record);
}

static void drop(struct hauli_record *record)
{
	t.wrong += record != &objects[t.dropped].record;
	t.dropped++;
}

static uint8_t no_key(const void *arg)
{
	return 0;
}

static bool push(struct haul_carrier *c, unsigned n)
{
	void *at[BURST];

	for (unsigned i = 0; i < n; i++) {
		at[i] = &objects[t.pushed + i];
		objects[t.pushed + i].number = t.pushed + i;
	}
	t.pushed += n;
	/* Every other time, so that each way follows the other. */
	if (!hauli_glue_steals(c) && t.pushes++ % 2 &&
		hauli_glue_records_are_next(c, &t.prototype)) {
		t.has_run += hauli_glue_run_records(
			c, &t.prototype, at, offsetof(struct object, record), n);
		return true;
	}
	if (hauli_glue_spawn_records(c, &t.prototype, at, offsetof(struct object, record), n))
		return true;
	t.pushed -= n;
	return false;
}

static inline void run(const struct hauli_prototype *s, struct hauli_record *record)
{
	t.fn(record);
}

static inline void run_object(const struct hauli_prototype *s, void *obj)
{
	t.fn(&((struct object *)obj)->record);
}

static inline void has_run(const struct hauli_prototype *s, bool remote)
{
	t.wrong += s != &t.prototype || (remote && haul_carriers(t.rt) == 1);
	t.has_run++;
}

static HAULI_AT_ONCE struct hauli_record *at_once(struct haul_carrier *c, struct haul_coro *me)
{
	return hauli_record_at_once(c, me, run_object, has_run);
}

/* Entries like those of the glue. */
static void enter(void *pass)
{
	hauli_record_body(pass, (struct hauli_body){run, has_run, at_once, false});
}

static void enter_stealable(void *pass)
{
	hauli_record_body(pass, (struct hauli_body){run, has_run, NULL, true});
}

static void begin(struct haul_carrier *c)
{
	hauli_glue_poller_begins(c, NULL, no_key);
	ASSERT_EACH(hauli_glue_prototype_init(&t.prototype, c, t.fn, drop, &t.opts) == 0);
	hauli_glue_set_entry(&t.prototype, hauli_glue_steals(c) ? enter_stealable : enter);
}

static bool go_on(bool had_io)
{
	return hauli_glue_go_on(haul_carrier_self(), had_io);
}

static void *polls(void *arg)
{
	struct haul_carrier *c = haul_carrier_self();

	begin(c);
	while (go_on(t.pushed < t.n))
		if (t.pushed < t.n)
			push(c, t.n - t.pushed < BURST ? t.n - t.pushed : BURST);
	return NULL;
}

static void *pushes_all_at_once(void *arg)
{
	begin(haul_carrier_self());
	while (t.pushed < t.n)
		push(haul_carrier_self(), t.n - t.pushed < BURST ? t.n - t.pushed : BURST);
	while (go_on(true))
		;
	return NULL;
}

static enum haul_steal how(int i)
{
	return i == 0 ? HAUL_STEAL_OFF : HAUL_STEAL_GLOBAL;
}

static struct haul_coro *start(
	unsigned carriers, enum haul_steal steal, haul_fn *poller, haul_fn *fn, unsigned n)
{
	const struct haul_coro_opts opts = t.opts;
	struct haul_coro *co;

	memset(&t, 0, sizeof(t));
	t.rt = runtime_start_stealing(carriers, NULL, steal);
	t.opts = opts;
	t.fn = fn;
	t.n = n;
	ck_assert_int_eq(haul_poller_register(haul_carrier(t.rt, 0), &co, poller, NULL, NULL), 0);
	return co;
}

static uint64_t unfinished(void)
{
	struct haul_carrier_stats st;

	haul_carrier_get_stats(haul_carrier(t.rt, 0), &st);
	return st.spawned - st.ended;
}

static void stop(struct haul_coro *poller)
{
	haul_cancel(poller);
	haul_join(poller, NULL, HAUL_FOREVER);
	WAIT_UNTIL(unfinished() == 0); /* a stolen one counts when it is back */
	runtime_stop(t.rt);
	ck_assert_uint_eq(t.wrong, 0);
	if (t.fn)
		ck_assert_uint_eq(t.has_run, t.ended);
	t.opts = (struct haul_coro_opts){0};
}

/* Leaves behind all that the next coroutine must not find. */
static void *begins_as_new(void *arg)
{
	const struct haul_coro *me = haul_self();
	unsigned number = object_of(arg)->number;

	t.wrong += strcmp(haul_coro_name(me), "packet") != 0 || me->order_key != 7;
	t.wrong += haul_cancelled() || me->pinned || hauli_permit_is_given(&me->permit);
	t.wrong += haul_carriers(t.rt) == 1 && number != t.ended;
	haul_unpark(haul_self());
	if (number % 3 == 0)
		haul_pin();
	if (number % 5 == 0)
		haul_cancel(haul_self());
	if (haul_carriers(t.rt) == 1)
		haul_self()->order_key = 9;
	t.ended++;
	return NULL;
}

START_TEST(each_begins_as_new_and_in_order)
{
	struct haul_coro *poller;

	t.opts = (struct haul_coro_opts){.name = "packet", .order_key = 7};
	poller = start(1 + _i, how(_i), polls, begins_as_new, MANY);
	WAIT_UNTIL(t.ended == MANY);
	stop(poller);
}
END_TEST

static void *waits_or_not(void *arg)
{
	unsigned number = object_of(arg)->number, copy[64];
	const struct haul_coro *me = haul_self();
	const unsigned *p = copy;

	for (unsigned i = 0; i < 64; i++)
		copy[i] = number + i;
	asm volatile("" : "+r"(p) : : "memory");
	object_of(arg)->record.prototype = NULL; /* as a packet that was freed */
	switch (number % 8) {
	case 1:
		haul_yield();
		break;
	case 3:
		haul_sleep(number % 50 * HAUL_US);
		break;
	case 4:
		haul_unpark(haul_self());
		haul_park(HAUL_FOREVER);
		break;
	}
	asm volatile("" : "+r"(p) : : "memory");
	for (unsigned i = 0; i < 64; i++)
		t.wrong += p[i] != number + i;
	t.wrong += haul_self() != me || haul_cancelled();
	t.ended++;
	return NULL;
}

START_TEST(one_that_waits_keeps_its_stack)
{
	struct haul_coro *poller = start(2, how(_i), polls, waits_or_not, MANY);

	WAIT_UNTIL(t.ended == MANY);
	stop(poller);
}
END_TEST

/* The first one ends with a cancel under way to it. */
static void *ends_or_sleeps(void *arg)
{
	if (object_of(arg)->number == 0) {
		t.last = haul_self();
		t.told = true;
		while (!t.open)
			;
	} else {
		t.wrong += haul_sleep(HAUL_US) != 0 || haul_cancelled();
	}
	t.ended++;
	return NULL;
}

START_TEST(a_request_does_not_reach_the_next_one)
{
	struct haul_coro *poller = start(1, HAUL_STEAL_OFF, polls, ends_or_sleeps, BURST);

	WAIT_UNTIL(t.told);
	haul_cancel(t.last);
	t.open = true;
	WAIT_UNTIL(t.ended == BURST);
	stop(poller);
}
END_TEST

static void *counts_cancelled(void *arg)
{
	t.cancelled += haul_cancelled() && haul_sleep(HAUL_FOREVER) == -ECANCELED;
	t.ended++;
	return NULL;
}

static bool is_counter(haul_fn *fn)
{
	return fn == counts_cancelled;
}

static void *cancels(void *arg)
{
	struct haul_carrier *c = haul_carrier_self();
	struct hauli_sites sites = {0};
	struct hauli_chosen chosen = {.is_chosen = is_counter, .sites = &sites};

	begin(c);
	for (unsigned i = 0; i < CROWD; i += BURST)
		push(c, BURST);
	hauli_glue_cancel_records(c);
	while (hauli_glue_cancel_some(c, &chosen))
		;
	while (t.ended < CROWD)
		go_on(true);
	t.wrong += t.cancelled != CROWD;
	begin(c);
	push(c, BURST);
	while (go_on(true))
		;
	return NULL;
}

START_TEST(those_that_were_queued_begin_cancelled)
{
	struct haul_coro *poller = start(1 + _i, how(_i), cancels, counts_cancelled, 0);

	WAIT_UNTIL(t.ended == CROWD + BURST);
	stop(poller);
	ck_assert_uint_eq(t.cancelled, CROWD);
}
END_TEST

/* The first one, which ends when the others are cancelled. */
static void *ends_before_cancelled(void *arg)
{
	if (object_of(arg)->number > 0)
		return counts_cancelled(arg);
	while (!t.open)
		haul_yield();
	t.ended++;
	return NULL;
}

static void *cancels_behind_one(void *arg)
{
	struct haul_carrier *c = haul_carrier_self();

	begin(c);
	push(c, 1);
	go_on(true); /* it yields */
	hauli_glue_cancel_records(c);
	push(c, BURST);
	c->run.lately.budget = 1 + BURST; /* for one round; slices may be long here */
	t.open = true;
	while (t.ended < 1 + BURST)
		go_on(true);
	t.told = true;
	while (go_on(true))
		;
	return NULL;
}

START_TEST(one_that_ends_goes_on_as_no_cancelled_record)
{
	struct haul_coro *poller = start(1, how(_i), cancels_behind_one, ends_before_cancelled, 0);

	WAIT_UNTIL(t.told);
	stop(poller);
	ck_assert_uint_eq(t.cancelled, BURST);
}
END_TEST

static void *cancels_beside_a_spare(void *arg)
{
	struct haul_carrier *c = haul_carrier_self();

	begin(c);
	push(c, 1);
	while (t.ended < 1)
		go_on(true);
	t.wrong += !c->spawn.spare || hauli_coro_home(c->spawn.spare) || t.cancelled != 0;
	hauli_glue_cancel_records(c);
	push(c, BURST);
	while (t.ended < 1 + BURST)
		go_on(true);
	t.told = true;
	while (go_on(true))
		;
	return NULL;
}

START_TEST(a_spare_has_no_home_and_takes_no_cancelled_record)
{
	struct haul_coro *poller =
		start(1, HAUL_STEAL_OFF, cancels_beside_a_spare, counts_cancelled, 0);

	WAIT_UNTIL(t.told);
	stop(poller);
	ck_assert_uint_eq(t.cancelled, BURST);
}
END_TEST

/* A thief may run one before the stop is handled: that one is cancelled later. */
static void *is_cancelled_by_the_stop(void *arg)
{
	bool at_once = haul_carriers(t.rt) > 1 || haul_cancelled();

	t.cancelled += at_once && haul_sleep(HAUL_FOREVER) == -ECANCELED;
	t.ended++;
	return NULL;
}

/* Pushes when the stop message has come and is not handled yet, and once after that. */
static void *pushes_at_the_end(void *arg)
{
	struct haul_carrier *c = haul_carrier_self();

	begin(c);
	while (!t.open)
		sched_yield();
	go_on(true); /* the detachment was mail, too */
	t.told = true;
	while (hauli_inbox_is_empty(&c->mail.inbox))
		;
	push(c, 10);
	go_on(true);
	t.wrong += push(c, 1);
	return NULL;
}

START_TEST(those_queued_at_the_stop_begin_cancelled)
{
	haul_detach(start(1 + _i, how(_i), pushes_at_the_end, is_cancelled_by_the_stop, 0));
	t.open = true;
	WAIT_UNTIL(t.told);
	runtime_stop(t.rt);
	ck_assert_uint_eq(t.cancelled, 10);
	ck_assert_uint_eq(t.ended, 10);
	ck_assert_uint_eq(t.wrong, 0);
}
END_TEST

static void *hogs_first(void *arg)
{
	t.told = true;
	while (!t.open)
		sched_yield();
	t.ended++;
	return NULL;
}

START_TEST(a_list_counts_those_that_have_not_begun)
{
	struct haul_coro *poller = start(1, HAUL_STEAL_OFF, polls, hogs_first, 10);
	char text[512] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	WAIT_UNTIL(t.told);
	haul_dump(t.rt, out);
	fclose(out);
	ck_assert_msg(strstr(text, "carrier 0: 9 more, ready, not begun\n"), "%s", text);
	t.open = true;
	WAIT_UNTIL(t.ended == 10);
	stop(poller);
}
END_TEST

/* The first one ends when all others have. */
static void *hogs_or_is_stolen(void *arg)
{
	t.wrong += haul_carrier_id(haul_coro_home(haul_self())) != 0;
	while (object_of(arg)->number == 0 && t.ended < 300)
		sched_yield();
	t.remote += haul_carrier_self() != haul_coro_home(haul_self());
	t.ended++;
	return NULL;
}

START_TEST(those_behind_one_that_computes_are_stolen)
{
	/* More than the ring: some are in the backlog. */
	struct haul_coro *poller =
		start(3, HAUL_STEAL_GLOBAL, pushes_all_at_once, hogs_or_is_stolen, 301);

	WAIT_UNTIL(t.ended == 301);
	stop(poller);
	ck_assert_uint_ge(t.remote, 1);
}
END_TEST

static __attribute__((noinline)) void use_stack(void)
{
	volatile char deep[100 * 1024];

	for (size_t i = 0; i < sizeof(deep); i += 1024)
		deep[i] = 1;
}

/* Two of one stack class, and one of another. */
static struct hauli_prototype kinds[3];

static void *is_of_its_kind(void *arg, unsigned kind)
{
	t.wrong += object_of(arg)->record.prototype != &kinds[kind];
	t.wrong += strcmp(haul_coro_name(haul_self()), kinds[kind].opts.name) != 0;
	if (kind == 2)
		use_stack();
	t.ended++;
	return NULL;
}

static void *first_kind(void *arg)
{
	return is_of_its_kind(arg, 0);
}

static void *second_kind(void *arg)
{
	return is_of_its_kind(arg, 1);
}

static void *large_kind(void *arg)
{
	return is_of_its_kind(arg, 2);
}

static void *pushes_all_kinds(void *arg)
{
	static const struct haul_coro_opts opts[] = {{.name = "first", .stack_size = 8 * 1024},
		{.name = "second", .stack_size = 8 * 1024},
		{.name = "large", .stack_size = 120 * 1024}};
	static haul_fn *const fns[] = {first_kind, second_kind, large_kind};
	struct haul_carrier *c = haul_carrier_self();
	void *at[2];

	for (unsigned i = 0; i < 3; i++)
		ASSERT_EACH(hauli_glue_prototype_init(&kinds[i], c, fns[i], drop, &opts[i]) == 0);
	for (unsigned i = 0; i < 1000; i++) {
		for (unsigned j = 0; j < 2; j++)
			at[j] = &objects[2 * i + j];
		hauli_glue_spawn_records(
			c, &kinds[i % 7 % 3], at, offsetof(struct object, record), 2);
		if (i % 10 == 9)
			go_on(true);
	}
	while (go_on(true))
		;
	return NULL;
}

START_TEST(each_kind_has_its_name_and_stack)
{
	struct haul_coro *poller = start(1, HAUL_STEAL_OFF, pushes_all_kinds, NULL, 0);

	WAIT_UNTIL(t.ended == 2000);
	stop(poller);
}
END_TEST

START_TEST(without_memory_they_are_dropped)
{
	struct rlimit none = {1 << 20, RLIM_INFINITY}, before;
	struct haul_coro *poller;

	if (HAULI_ASAN || HAULI_TSAN)
		return; /* their shadow needs memory, too */
	t.opts = (struct haul_coro_opts){.stack_size = 1000 * 1024};
	poller = start(1, HAUL_STEAL_OFF, polls, hogs_first, 0);
	ck_assert_int_eq(getrlimit(RLIMIT_AS, &before), 0);
	none.rlim_max = before.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_AS, &none), 0);
	t.n = 10;
	WAIT_UNTIL(t.dropped == 10);
	ck_assert_int_eq(setrlimit(RLIMIT_AS, &before), 0);
	stop(poller);
	ck_assert_uint_eq(t.ended, 0);
}
END_TEST

START_TEST(pinned_ones_are_no_records_where_carriers_steal)
{
	struct haul_runtime *rt = runtime_start_stealing(2, NULL, HAUL_STEAL_GLOBAL);
	const struct haul_coro_opts pinned = {.pinned = true};
	struct hauli_prototype s;

	ck_assert_int_eq(
		hauli_glue_prototype_init(&s, haul_carrier(rt, 0), begins_as_new, drop, &pinned),
		-EINVAL);
	runtime_stop(rt);
}
END_TEST

SUITE_MAIN("records", {each_begins_as_new_and_in_order, 2}, {one_that_waits_keeps_its_stack, 2},
	{a_request_does_not_reach_the_next_one}, {those_that_were_queued_begin_cancelled, 2},
	{one_that_ends_goes_on_as_no_cancelled_record, 2},
	{a_spare_has_no_home_and_takes_no_cancelled_record, 1},
	{those_queued_at_the_stop_begin_cancelled, 2}, {a_list_counts_those_that_have_not_begun},
	{those_behind_one_that_computes_are_stolen}, {each_kind_has_its_name_and_stack},
	{without_memory_they_are_dropped}, {pinned_ones_are_no_records_where_carriers_steal})
