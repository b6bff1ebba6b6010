/* SPDX-License-Identifier: BSD-3-Clause */
/* Timelines: what carriers write into them, and what a file has of that. */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>

#include <haul/driver.h>

#include "sched/run/poller.h"
#include "sched/state/carrier.h"
#include "sched/state/coroutine.h"
#include "support/runtime.h"
#include "support/suite.h"
#include "support/timeline_check.h"

static struct haul_runtime *start(unsigned carriers, unsigned events, enum haul_steal steal)
{
	struct haul_plan_opts opts = {.carriers = carriers};
	struct haul_runtime *rt = NULL;
	struct haul_plan *plan = NULL;
	char why[256] = "";

	ck_assert_int_eq(haul_plan_create(&plan, &opts, why, sizeof(why)), 0);
	ck_assert_msg(haul_start(&rt,
			      &(struct haul_runtime_opts){.plan = plan,
				      .steal = steal,
				      .trace_events = events,
				      .watchdog_ns = HAUL_FOREVER},
			      why, sizeof(why)) == 0,
		"%s", why);
	haul_plan_destroy(plan);
	return rt;
}

/* The first event of a kind, with this value or any if that is 0, from *from on; *from is behind
 * it. NULL: none. */
static const struct timeline_event *find_from(
	const struct timeline_ring *r, uint64_t *from, enum haul_trace_kind kind, const void *value)
{
	for (uint64_t i = *from; i < r->n; i++)
		if (r->events[i].kind == kind &&
			(!value || r->events[i].value == (uintptr_t)value)) {
			*from = i + 1;
			return &r->events[i];
		}
	return NULL;
}

static const struct timeline_event *find(
	const struct timeline_ring *r, enum haul_trace_kind kind, const void *value)
{
	uint64_t from = 0;

	return find_from(r, &from, kind, value);
}

static void *parks(void *arg)
{
	haul_park(HAUL_FOREVER);
	return NULL;
}

static void *wakes(void *arg)
{
	struct haul_coro *co;

	EXPECT(haul_spawn(&co, parks, NULL, &(struct haul_coro_opts){.name = "sleeper"}) == 0);
	haul_yield();
	haul_unpark(co);
	EXPECT(haul_join(co, NULL, HAUL_FOREVER) == 0);
	EXPECT(haul_sleep(HAUL_MS) == 0); /* it is to be seen */
	return co;
}

/* False: the carrier had no CPU while it was to sleep, and did not. */
static bool a_wait_is_told(void)
{
	struct haul_runtime *rt = start(1, 4096, HAUL_STEAL_OFF);
	struct timeline_file *f;
	const struct timeline_ring *r;
	const struct timeline_event *e, *timers;
	uint64_t at = 0, before, behind;
	bool slept;
	void *co = run_on(rt, 0, wakes, NULL);

	f = timeline_take();
	r = &f->rings[0];
	ck_assert_uint_eq(f->nb, 1);
	ck_assert_uint_eq(f->head.pid, getpid());
	e = find_from(r, &at, HAUL_TRACE_RUN, co);
	ck_assert_ptr_nonnull(e);
	ck_assert_str_eq(e->name, "sleeper");
	before = e->ticks;
	e = find_from(r, &at, HAUL_TRACE_RUN, NULL);
	ck_assert_uint_eq(e->sub, HAUL_TRACE_PARKED);
	e = find_from(r, &at, HAUL_TRACE_READY, co);
	ck_assert_uint_ge(e->ticks, before);
	e = find_from(r, &at, HAUL_TRACE_RUN, co);
	ck_assert_uint_eq(e->sub, HAUL_TRACE_JOINS);
	e = find_from(r, &at, HAUL_TRACE_RUN, NULL);
	ck_assert_uint_eq(e->sub, HAUL_TRACE_ENDED);
	e = find_from(r, &at, HAUL_TRACE_RUN, NULL);
	ck_assert_uint_eq(e->sub, HAUL_TRACE_SLEEPS);
	behind = at;
	timers = find_from(r, &behind, HAUL_TRACE_TIMERS, NULL);
	ck_assert_ptr_nonnull(timers);
	e = find_from(r, &at, HAUL_TRACE_SLEEP, NULL);
	slept = e && e < timers;
	if (slept) {
		e = find_from(r, &at, HAUL_TRACE_AWAKE, NULL);
		ck_assert(e && e < timers);
		ck_assert_ptr_nonnull(find_from(r, &behind, HAUL_TRACE_READY, NULL));
	}
	timeline_close(f);
	runtime_stop(rt);
	return slept;
}

START_TEST(a_wait_and_its_end)
{
	while (!a_wait_is_told())
		;
}
END_TEST

static void *wakes_far(void *arg)
{
	haul_unpark(arg);
	return NULL;
}

START_TEST(a_wake_across_carriers)
{
	struct haul_runtime *rt = start(2, 4096, HAUL_STEAL_OFF);
	struct haul_carrier_stats st = {0};
	const struct timeline_event *asked, *ready, *run;
	struct timeline_file *f;
	struct haul_coro *co;
	uint64_t at = 0;

	ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, 0), &co, parks, NULL, NULL), 0);
	/* Before, it may be on its way into its wait, and an unpark would spare it that. */
	WAIT_UNTIL((haul_carrier_get_stats(haul_carrier(rt, 0), &st), st.parks > 0) &&
		hauli_inbox_is_asleep(&haul_carrier(rt, 0)->mail.inbox));
	run_on(rt, 1, wakes_far, co);
	ck_assert_int_eq(haul_join(co, NULL, HAUL_FOREVER), 0);
	f = timeline_take();
	asked = find(&f->rings[1], HAUL_TRACE_REQUEST, co);
	ck_assert_ptr_nonnull(asked);
	ck_assert_ptr_nonnull(find_from(&f->rings[0], &at, HAUL_TRACE_RUN, co));
	ready = find_from(&f->rings[0], &at, HAUL_TRACE_READY, co);
	ck_assert_ptr_nonnull(ready);
	run = find_from(&f->rings[0], &at, HAUL_TRACE_RUN, co);
	ck_assert_ptr_nonnull(run);
	ck_assert_uint_le(ready->ticks, run->ticks);
	timeline_close(f);
	runtime_stop(rt);
}
END_TEST

static void *ends(void *arg)
{
	return NULL;
}

#define CALLS 20

static void *spawns(void *arg)
{
	for (int i = 0; i < CALLS; i++)
		EXPECT(haul_spawn(NULL, ends, NULL, NULL) == 0);
	return NULL;
}

/* Coroutines that do not wait are counted, whichever way they begin. */
START_TEST(those_that_do_not_wait_are_counted)
{
	struct haul_runtime *rt = start(1, 4096, HAUL_STEAL_OFF);
	struct haul_carrier_stats st;
	struct timeline_file *f;
	uint64_t counted = 0;

	ck_assert_ptr_null(run_on(rt, 0, spawns, NULL));
	WAIT_UNTIL((haul_carrier_get_stats(haul_carrier(rt, 0), &st), st.ended == CALLS + 1));
	run_on(rt, 0, ends, NULL);
	f = timeline_take();
	for (uint64_t i = 0; i < f->rings[0].n; i++)
		if (f->rings[0].events[i].kind == HAUL_TRACE_RUN)
			counted += f->rings[0].events[i].extra >> 8;
	ck_assert_uint_ge(counted, CALLS + 1);
	timeline_close(f);
	runtime_stop(rt);
}
END_TEST

static struct haul_mutex mutex;

static void *spans(void *arg)
{
	HAUL_TRACE_SPAN("outer");
	HAUL_TRACE_COUNT("level", -7);
	{
		HAUL_TRACE_SPAN("a name that is longer than fifteen bytes");
		haul_sleep(HAUL_US);
	}
	HAUL_TRACE_MARK("done");
	return NULL;
}

static void *marks(void *arg)
{
	HAUL_TRACE_SPAN("nothing");
	HAUL_TRACE_MARK("nothing");
	HAUL_TRACE_COUNT("nothing", 1);
	haul_trace_trigger();
	return NULL;
}

START_TEST(spans_of_a_program)
{
	struct haul_runtime *rt = start(1, 4096, HAUL_STEAL_OFF);
	const struct timeline_event *e;
	struct timeline_file *f;
	uint64_t at = 0;

	marks(NULL); /* on a thread that is no carrier: nothing */
	run_on(rt, 0, spans, NULL);
	f = timeline_take();
	e = find_from(&f->rings[0], &at, HAUL_TRACE_BEGIN, NULL);
	ck_assert_str_eq(e->name, "outer");
	e = find_from(&f->rings[0], &at, HAUL_TRACE_COUNT, NULL);
	ck_assert_str_eq(e->name, "level");
	ck_assert_int_eq((int64_t)e[1].value, -7);
	e = find_from(&f->rings[0], &at, HAUL_TRACE_BEGIN, NULL);
	ck_assert_str_eq(e->name, "a name that is longer than fifteen bytes");
	ck_assert_ptr_nonnull(find_from(&f->rings[0], &at, HAUL_TRACE_END, NULL));
	e = find_from(&f->rings[0], &at, HAUL_TRACE_MARK, NULL);
	ck_assert_str_eq(e->name, "done");
	ck_assert_ptr_nonnull(find_from(&f->rings[0], &at, HAUL_TRACE_END, NULL));
	ck_assert_ptr_null(find_from(&f->rings[0], &at, HAUL_TRACE_BEGIN, NULL));
	timeline_close(f);
	runtime_stop(rt);
}
END_TEST

static void *locks(void *arg)
{
	haul_mutex_lock(&mutex);
	haul_mutex_unlock(&mutex);
	return NULL;
}

static void *holds(void *arg)
{
	struct haul_coro *co;

	haul_mutex_lock(&mutex);
	EXPECT(haul_spawn(&co, locks, NULL, NULL) == 0);
	haul_yield();
	haul_mutex_unlock(&mutex);
	EXPECT(haul_join(co, NULL, HAUL_FOREVER) == 0);
	return NULL;
}

START_TEST(a_wait_says_for_what)
{
	struct haul_runtime *rt = start(1, 4096, HAUL_STEAL_OFF);
	const struct timeline_event *e;
	struct timeline_file *f;

	ck_assert_ptr_null(run_on(rt, 0, holds, NULL));
	f = timeline_take();
	e = find(&f->rings[0], HAUL_TRACE_BLOCK, &mutex);
	ck_assert_ptr_nonnull(e);
	ck_assert_str_eq(e->name, "mutex");
	ck_assert_uint_eq(e[1].kind, HAUL_TRACE_RUN);
	ck_assert_uint_eq(e[1].sub, HAUL_TRACE_BLOCKED);
	timeline_close(f);
	runtime_stop(rt);
}
END_TEST

static struct haul_event event, never;

static void *waits_in_all_ways(void *arg)
{
	haul_park(HAUL_FOREVER);
	haul_park(haul_in(1000 * HAUL_S));
	haul_event_wait(&event, haul_in(1000 * HAUL_S));
	haul_park(haul_in(HAUL_US));
	haul_event_wait(&never, haul_in(HAUL_US));
	haul_sleep(HAUL_US);
	haul_sleep(1000 * HAUL_S);
	return haul_self();
}

static bool has_wait(const struct haul_runtime *rt, const char *what, bool timed)
{
	struct haul_look_wait wait;
	struct haul_look l = {.waits = &wait, .waits_max = 1};

	haul_look(rt, &l);
	return l.nb_waits == 1 && strcmp(wait.what, what) == 0 &&
		(timed ? wait.left_ns > 500 * HAUL_S && wait.left_ns < HAUL_FOREVER
		       : wait.left_ns == HAUL_FOREVER);
}

START_TEST(a_wait_says_how_it_ended)
{
	static const enum haul_trace_end ends[] = {HAUL_TRACE_WOKEN, HAUL_TRACE_WOKEN,
		HAUL_TRACE_WOKEN, HAUL_TRACE_EXPIRED, HAUL_TRACE_EXPIRED, HAUL_TRACE_EXPIRED,
		HAUL_TRACE_CANCELLED};
	struct haul_runtime *rt = start(1, 4096, HAUL_STEAL_OFF);
	const struct timeline_event *e;
	struct timeline_file *f;
	struct haul_coro *co;
	uint64_t at = 0;
	void *same;

	event = never = (struct haul_event){0};
	ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, 0), &co, waits_in_all_ways, NULL, NULL), 0);
	WAIT_UNTIL(has_wait(rt, "parked", false));
	haul_unpark(co);
	WAIT_UNTIL(has_wait(rt, "parked", true));
	haul_unpark(co);
	WAIT_UNTIL(has_wait(rt, "event", true));
	haul_event_set(&event);
	WAIT_UNTIL(has_wait(rt, "sleeping", true));
	haul_cancel(co);
	ck_assert_int_eq(haul_join(co, &same, HAUL_FOREVER), 0);
	f = timeline_take();
	for (unsigned i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		e = find_from(&f->rings[0], &at, HAUL_TRACE_READY, same);
		ck_assert_ptr_nonnull(e);
		ck_assert_uint_eq(e->sub, ends[i]);
	}
	ck_assert_ptr_null(find_from(&f->rings[0], &at, HAUL_TRACE_READY, same));
	timeline_close(f);
	runtime_stop(rt);
}
END_TEST

static void *many_yields(void *arg)
{
	for (int i = 0; i < 10000; i++)
		haul_yield();
	return NULL;
}

/* The ring has the last events, and names that were written long ago. */
START_TEST(the_last_events_stay)
{
	struct haul_runtime *rt = start(1, 1, HAUL_STEAL_OFF);
	struct timeline_file *f;
	struct haul_coro *co;

	ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, 0), &co, many_yields, NULL,
				 &(struct haul_coro_opts){.name = "busy"}),
		0);
	ck_assert_int_eq(haul_join(co, NULL, HAUL_FOREVER), 0);
	f = timeline_take();
	ck_assert_uint_eq(f->rings[0].head.size, 1024);
	ck_assert_uint_eq(f->rings[0].head.end - f->rings[0].head.first, 1024);
	ck_assert_uint_ge(f->rings[0].n, 900);
	for (uint64_t i = f->rings[0].n - 100; i < f->rings[0].n; i++)
		if (f->rings[0].events[i].value == (uintptr_t)co)
			ck_assert_str_eq(f->rings[0].events[i].name, "busy");
	timeline_close(f);
	runtime_stop(rt);
}
END_TEST

START_TEST(without_timelines_there_is_no_file)
{
	struct haul_runtime *rt = start(1, 0, HAUL_STEAL_OFF);

	run_on(rt, 0, spans, NULL);
	ck_assert_int_eq(haul_trace_write(-1), -ENOENT);
	runtime_stop(rt);
}
END_TEST

START_TEST(several_runtimes)
{
	struct haul_runtime *a = start(1, 4096, HAUL_STEAL_OFF);
	struct haul_runtime *b = start(2, 1024, HAUL_STEAL_OFF);
	struct timeline_file *f = timeline_take();

	ck_assert_uint_eq(f->nb, 3);
	ck_assert_uint_ne(f->rings[0].head.runtime, f->rings[1].head.runtime);
	timeline_close(f);
	runtime_stop(a);
	f = timeline_take();
	ck_assert_uint_eq(f->nb, 2);
	timeline_close(f);
	ck_assert_int_eq(haul_trace_write(-1), -EBADF);
	runtime_stop(b);
}
END_TEST

START_TEST(options_are_checked)
{
	char why[256] = "", path[5000];
	struct haul_runtime *rt;

	ck_assert_int_eq(haul_start(&rt, &(struct haul_runtime_opts){.trace_events = 1u << 29}, why,
				 sizeof(why)),
		-EINVAL);
	ck_assert_str_eq(why, "options: trace_events: at most 2^28");
	ck_assert_int_eq(haul_trace_to(&(struct haul_trace_opts){0}), -EINVAL);
	ck_assert_int_eq(haul_trace_to(&(struct haul_trace_opts){.path = ""}), -EINVAL);
	memset(path, 'x', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	ck_assert_int_eq(haul_trace_to(&(struct haul_trace_opts){.path = path}), -EINVAL);
	ck_assert_int_eq(
		haul_trace_to(&(struct haul_trace_opts){.path = "x", .sig = SIGSEGV}), -EINVAL);
}
END_TEST

static void *computes(void *arg)
{
	for (uint64_t until = haul_in(3 * HAUL_MS); haul_now() < until;)
		;
	haul_yield();
	return NULL;
}

START_TEST(a_name_whose_memory_is_used_again)
{
	static const char *const texts[] = {"first", "second", "first"};
	struct haul_runtime *rt = start(1, 4096, HAUL_STEAL_OFF);
	const struct timeline_event *e;
	struct timeline_file *f;
	struct haul_coro *co;
	uint64_t at = 0;
	char name[16];

	for (unsigned i = 0; i < 3; i++) {
		strcpy(name, texts[i]);
		ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, 0), &co, ends, NULL,
					 &(struct haul_coro_opts){.name = name}),
			0);
		ck_assert_int_eq(haul_join(co, NULL, HAUL_FOREVER), 0);
	}
	f = timeline_take();
	for (unsigned i = 0; i < 3; i++) {
		do
			e = find_from(&f->rings[0], &at, HAUL_TRACE_RUN, NULL);
		while (e && !e->value);
		ck_assert_ptr_nonnull(e);
		ck_assert_str_eq(e->name, texts[i]);
	}
	timeline_close(f);
	runtime_stop(rt);
}
END_TEST

static void *sleeps_and_locks(void *arg)
{
	for (int i = 0; i < 20; i++) {
		EXPECT(haul_sleep((uintptr_t)arg * HAUL_S) == 0);
		haul_mutex_lock(&mutex);
		EXPECT(haul_sleep(HAUL_MS) == 0); /* virtual time: others wait for the lock */
		haul_mutex_unlock(&mutex);
	}
	return NULL;
}

/* The clock stands still between jumps, so many events have one time; they keep their order. */
START_TEST(virtual_time)
{
	struct haul_plan_opts one = {.carriers = 1};
	struct timeline_sums sums = {0};
	struct haul_runtime *rt;
	struct haul_plan *plan;
	struct timeline_file *f;
	struct haul_coro *cos[5];

	ck_assert_int_eq(haul_plan_create(&plan, &one, NULL, 0), 0);
	ck_assert_int_eq(haul_start(&rt,
				 &(struct haul_runtime_opts){.plan = plan,
					 .virtual_time = true,
					 .trace_events = 1u << 16,
					 .watchdog_ns = HAUL_FOREVER},
				 NULL, 0),
		0);
	haul_plan_destroy(plan);
	for (uintptr_t i = 0; i < 5; i++)
		ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, 0), &cos[i], sleeps_and_locks,
					 (void *)(i + 1), &(struct haul_coro_opts){.name = "v"}),
			0);
	for (unsigned i = 0; i < 5; i++)
		ck_assert_int_eq(haul_join(cos[i], NULL, HAUL_FOREVER), 0);
	f = timeline_take();
	timeline_check(f, &sums);
	ck_assert_uint_ge(sums.waits, 5 * 2 * 20);
	timeline_close(f);
	runtime_stop(rt);
}
END_TEST

static void needs_no_wakeup(void *arg)
{
}

/* A poller that does not wait after it has parked: it suspends, has work, or ends. */
static void *parks_in_vain(void *arg)
{
	for (int i = 0; i < 100;) {
		if (!haul_poller_try_park())
			haul_yield();
		else if (++i % 2)
			haul_yield();
		else if (i < 100)
			hauli_poller_is_busy(arg);
	}
	return NULL;
}

START_TEST(a_parked_poller_wakes_however_it_goes_on)
{
	const struct haul_poller_opts opts = {.wakeup = needs_no_wakeup};
	struct haul_runtime *rt = start(1, 1u << 12, HAUL_STEAL_GLOBAL * HAUL_STEALING);
	struct haul_carrier *c = haul_carrier(rt, 0);
	unsigned sleeps = 0, wakes = 0;
	struct timeline_sums sums = {0};
	struct timeline_file *f;
	struct haul_coro *poller;

	ck_assert_int_eq(haul_poller_register(c, &poller, parks_in_vain, c, &opts), 0);
	ck_assert_int_eq(haul_join(poller, NULL, HAUL_FOREVER), 0);
	f = timeline_take();
	timeline_check(f, &sums);
	for (uint64_t i = 0; i < f->rings[0].n; i++) {
		const struct timeline_event *e = &f->rings[0].events[i];

		sleeps += e->kind == HAUL_TRACE_SLEEP && e->sub == HAUL_TRACE_IN_POLLER;
		wakes += e->kind == HAUL_TRACE_AWAKE;
	}
	ck_assert_uint_eq(sleeps, 100);
	ck_assert_uint_ge(wakes, sleeps);
	timeline_close(f);
	runtime_stop(rt);
}
END_TEST

static atomic_bool hogs;

static void *hog(void *arg)
{
	while (hogs)
		haul_yield();
	return NULL;
}

static void *sleeps_often(void *arg)
{
	for (int i = 0; i < 50; i++) {
		HAUL_TRACE_SPAN("nap");
		computes(NULL);
	}
	return NULL;
}

START_TEST(a_theft)
{
	const struct timeline_event *e = NULL;
	struct haul_coro *hogging, *co[8];
	struct haul_runtime *rt;
	struct timeline_file *f;

	if (!HAUL_STEALING)
		return;
	rt = start(2, 1u << 18, HAUL_STEAL_GLOBAL);
	hogs = true;
	ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, 0), &hogging, hog, NULL, NULL), 0);
	for (int i = 0; i < 8; i++)
		ck_assert_int_eq(
			haul_spawn_on(haul_carrier(rt, 0), &co[i], sleeps_often, NULL, NULL), 0);
	for (int i = 0; i < 8; i++)
		ck_assert_int_eq(haul_join(co[i], NULL, HAUL_FOREVER), 0);
	hogs = false;
	ck_assert_int_eq(haul_join(hogging, NULL, HAUL_FOREVER), 0);
	f = timeline_take();
	for (unsigned i = 0; i < 2 && !e; i++)
		e = find(&f->rings[i], HAUL_TRACE_STEAL, NULL);
	ck_assert_ptr_nonnull(e);
	ck_assert_uint_lt(e->extra, 2);
	timeline_close(f);
	runtime_stop(rt);
}
END_TEST

SUITE_MAIN("timeline", {a_wait_and_its_end, 1}, {a_wake_across_carriers, 1},
	{those_that_do_not_wait_are_counted, 1}, {spans_of_a_program, 1}, {a_wait_says_for_what, 1},
	{a_wait_says_how_it_ended, 1}, {the_last_events_stay, 1},
	{without_timelines_there_is_no_file, 1}, {several_runtimes, 1}, {options_are_checked, 1},
	{a_name_whose_memory_is_used_again, 1}, {virtual_time, 1},
	{a_parked_poller_wakes_however_it_goes_on, 1}, {a_theft, 1})
