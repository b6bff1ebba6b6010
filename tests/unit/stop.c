/* SPDX-License-Identifier: BSD-3-Clause */
/* Start and stop: nothing is lost, and the stop names the coroutines that do not end. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sched/state/coroutine.h"
#include "support/runtime.h"
#include "support/suite.h"

static uint64_t ended(struct haul_runtime *rt)
{
	struct haul_carrier_stats st;
	uint64_t n = 0;

	for (unsigned i = 0; i < haul_carriers(rt); i++) {
		haul_carrier_get_stats(haul_carrier(rt, i), &st);
		n += st.ended;
	}
	return n;
}

static void *parks(void *arg)
{
	return (void *)(intptr_t)haul_park(HAUL_FOREVER);
}

static void *sleeps(void *arg)
{
	return (void *)(intptr_t)haul_sleep(HAUL_FOREVER);
}

START_TEST(nothing_to_do_starts_and_stops)
{
	for (int i = 0; i < 50; i++)
		runtime_stop(runtime_start(1 + (unsigned)i % 4));
}
END_TEST

START_TEST(defaults_start)
{
	struct haul_runtime *rt;

	ck_assert_int_eq(haul_start(&rt, NULL, NULL, 0), 0);
	ck_assert_uint_ge(haul_carriers(rt), 1);
	runtime_stop(rt);
}
END_TEST

START_TEST(a_process_has_64_runtimes_at_most)
{
	struct haul_runtime *runtimes[65];
	char why[256] = "";
	unsigned n = 0;
	int err = 0;

	while (n < 65 && !err) {
		err = haul_start(&runtimes[n],
			&(struct haul_runtime_opts){.watchdog_ns = HAUL_FOREVER}, why, sizeof(why));
		n += !err;
	}
	ck_assert_msg(err == -ENOSPC && n == 64 && strstr(why, "at most 64 runtimes"), "%u: %d, %s",
		n, err, why);
	while (n > 0)
		runtime_stop(runtimes[--n]);
}
END_TEST

static void *returns_null(void *arg)
{
	return NULL;
}

static void *spawns_over_there(void *arg)
{
	struct haul_coro *co;
	void *result = arg;

	haul_spawn_any(arg, &co, returns_null, NULL, NULL);
	haul_join(co, &result, HAUL_FOREVER);
	return result;
}

START_TEST(two_runtimes_live_side_by_side)
{
	struct haul_runtime *a = runtime_start(1), *b = runtime_start(1);

	ck_assert_ptr_eq(run_on(a, 0, spawns_over_there, b), NULL);
	ck_assert_ptr_eq(run_on(b, 0, spawns_over_there, a), NULL);
	runtime_stop(a);
	ck_assert_ptr_eq(run_on(b, 0, returns_null, NULL), NULL);
	runtime_stop(b);
}
END_TEST

START_TEST(stop_cancels_waiting_coroutines)
{
	struct haul_runtime *rt = runtime_start(3);

	for (int i = 0; i < 300; i++)
		ck_assert_int_eq(haul_spawn_any(rt, NULL, i % 2 ? parks : sleeps, NULL, NULL), 0);
	runtime_stop(rt);
}
END_TEST

static void *spawns_when_stopping(void *arg)
{
	atomic_int *refused = arg;

	while (haul_park(HAUL_FOREVER) == 0)
		;
	*refused = haul_spawn(NULL, parks, NULL, NULL);
	return NULL;
}

START_TEST(stop_refuses_new_spawns)
{
	struct haul_runtime *rt = runtime_start(1);
	atomic_int refused = 0;

	ck_assert_int_eq(haul_spawn_any(rt, NULL, spawns_when_stopping, &refused, NULL), 0);
	runtime_stop(rt);
	ck_assert_int_eq(refused, -ECANCELED);
}
END_TEST

static atomic_bool let_go;

static void *ignores_the_cancel(void *arg)
{
	while (!let_go)
		haul_yield();
	return NULL;
}

static void *loops_over_cancelled_waits(void *arg)
{
	while (!let_go)
		arg ? haul_sleep(HAUL_MS) : haul_park(HAUL_FOREVER); /* both are cancelled */
	return NULL;
}

/* Meanwhile other coroutines of the same carrier end, and the carrier answers. */
START_TEST(a_cancelled_wait_lets_others_run)
{
	struct haul_runtime *rt = runtime_start(1);
	struct haul_coro *co;

	let_go = false;
	for (intptr_t i = 0; i < 2; i++) {
		ck_assert_int_eq(
			haul_spawn_any(rt, &co, loops_over_cancelled_waits, (void *)i, NULL), 0);
		haul_cancel(co);
		haul_detach(co);
	}
	ck_assert_ptr_null(run_on(rt, 0, returns_null, NULL));
	let_go = true;
	runtime_stop(rt);
}
END_TEST

/* haul_stop(); gives back its output on stderr. */
static int stop_and_listen(struct haul_runtime *rt, uint64_t timeout_ns, char *text, size_t len)
{
	FILE *caught = tmpfile();
	int saved = dup(STDERR_FILENO);
	int err;

	fflush(stderr);
	dup2(fileno(caught), STDERR_FILENO);
	err = haul_stop(rt, timeout_ns);
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
	rewind(caught);
	text[fread(text, 1, len - 1, caught)] = '\0';
	fclose(caught);
	return err;
}

START_TEST(coroutines_that_do_not_end_are_listed)
{
	struct haul_coro_opts opts = {.name = "stubborn"};
	struct haul_runtime *rt = runtime_start(2);
	char text[4096];

	let_go = false;
	ck_assert_int_eq(haul_spawn_any(rt, NULL, ignores_the_cancel, NULL, &opts), 0);
	ck_assert_int_eq(haul_spawn_any(rt, NULL, parks, NULL, NULL), 0);
	ck_assert_int_eq(stop_and_listen(rt, 50 * HAUL_MS, text, sizeof(text)), -ETIMEDOUT);
	ck_assert_msg(strstr(text, "stubborn"), "not named in: %s", text);
	/* A spawn is refused, the runtime still exists, and a second stop ends it. */
	ck_assert_int_eq(haul_spawn_any(rt, NULL, parks, NULL, NULL), -ECANCELED);
	let_go = true;
	runtime_stop(rt);
}
END_TEST

static atomic_bool hogging;

static void *hogs(void *arg)
{
	hogging = true;
	while (!let_go)
		;
	return NULL;
}

START_TEST(a_carrier_that_does_not_answer_is_named)
{
	struct haul_coro_opts opts = {.name = "hog", .pinned = true};
	struct haul_runtime *rt = runtime_start(2);
	char text[4096];

	let_go = hogging = false;
	ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, 1), NULL, hogs, NULL, &opts), 0);
	WAIT_UNTIL(hogging);
	ck_assert_int_eq(stop_and_listen(rt, 50 * HAUL_MS, text, sizeof(text)), -ETIMEDOUT);
	ck_assert_msg(strstr(text, "carrier 1 does not answer: hog"), "%s", text);
	ck_assert_msg(strstr(text, " does not suspend, and its thread runs\n") ||
			strstr(text, " does not suspend, and its thread waits for a CPU\n"),
		"%s", text);
	ck_assert_msg(strstr(text, ", running"), "%s", text);
	let_go = true;
	runtime_stop(rt);
}
END_TEST

static void *waits_in_the_kernel(void *arg)
{
	char byte;

	hogging = true;
	ck_assert_int_eq(read(*(int *)arg, &byte, 1), 1);
	return NULL;
}

START_TEST(its_thread_sleeps)
{
	struct haul_coro_opts opts = {.name = "reader", .pinned = true};
	struct haul_runtime *rt = runtime_start(2);
	char text[4096];
	int fds[2];

	hogging = false;
	ck_assert_int_eq(pipe(fds), 0);
	ck_assert_int_eq(
		haul_spawn_on(haul_carrier(rt, 1), NULL, waits_in_the_kernel, &fds[0], &opts), 0);
	WAIT_UNTIL(hogging);
	ck_assert_int_eq(stop_and_listen(rt, 50 * HAUL_MS, text, sizeof(text)), -ETIMEDOUT);
	ck_assert_msg(strstr(text, " does not suspend, and its thread sleeps\n"), "%s", text);
	ck_assert_int_eq(write(fds[1], "x", 1), 1);
	runtime_stop(rt);
	close(fds[0]);
	close(fds[1]);
}
END_TEST

static atomic_uint turns;

/* As many of these as a batch runs take longer than the stop. */
static void *takes_turns(void *arg)
{
	while (!let_go) {
		uint64_t end = haul_in(60 * HAUL_MS);

		turns++;
		while (haul_now() < end && !let_go)
			;
		haul_yield();
	}
	return NULL;
}

/* Stops a runtime whose carrier 1 runs two of these. Returns what the stop says. */
static void stop_while_turns_are_taken(char *text, size_t len)
{
	struct haul_coro_opts opts = {.pinned = true};
	struct haul_runtime *rt = runtime_start(2);

	let_go = false;
	turns = 0;
	for (unsigned i = 0; i < 2; i++)
		ck_assert_int_eq(
			haul_spawn_on(haul_carrier(rt, 1), NULL, takes_turns, NULL, &opts), 0);
	WAIT_UNTIL(turns >= 4); /* both are in the batch that runs */
	ck_assert_int_eq(stop_and_listen(rt, 0, text, len), -ETIMEDOUT);
	let_go = true;
	runtime_stop(rt);
}

START_TEST(a_carrier_that_does_not_answer_runs_many)
{
	const char *told = "carrier 1 does not answer, but runs one coroutine after the other\n";
	uint64_t deadline = haul_in(60 * HAUL_S);
	char text[4096];

	/* The thread of the stop, or that of the carrier, gets no CPU while it matters, perhaps;
	 * and a carrier answers a second stop of the same runtime at once. */
	do
		stop_while_turns_are_taken(text, sizeof(text));
	while (!strstr(text, told) && haul_now() < deadline);
	ck_assert_msg(strstr(text, told), "%s", text);
}
END_TEST

static void *stops(void *arg)
{
	return (void *)(intptr_t)haul_stop(arg, HAUL_FOREVER);
}

START_TEST(a_coroutine_cannot_stop)
{
	struct haul_runtime *rt = runtime_start(1);

	ck_assert_int_eq((intptr_t)run_on(rt, 0, stops, rt), -EDEADLK);
	runtime_stop(rt);
}
END_TEST

START_TEST(a_runtime_that_does_not_run_cannot_be_stopped)
{
	struct haul_runtime *rt = runtime_start(1), *other = runtime_start(1);
	char text[4096];

	runtime_stop(rt);
	ck_assert_int_eq(stop_and_listen(rt, HAUL_FOREVER, text, sizeof(text)), -EINVAL);
	ck_assert_msg(strstr(text, "haul_stop(): this runtime does not run"), "%s", text);
	runtime_stop(other);
}
END_TEST

#define UNJOINED 1000

/* Ended coroutines that were not joined do not hold up the stop, but the stop reports them. */
START_TEST(unjoined_are_counted)
{
	struct haul_coro_opts opts = {.name = "forgotten"};
	struct haul_runtime *rt = runtime_start(2);
	struct haul_coro *co;
	char text[4096] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	for (int i = 0; i < UNJOINED; i++)
		ck_assert_int_eq(haul_spawn_any(rt, &co, returns_null, NULL, &opts), 0);
	ck_assert_int_eq(haul_spawn_any(rt, &co, parks, NULL, NULL), 0);
	WAIT_UNTIL(ended(rt) == UNJOINED);
	haul_dump(rt, out);
	fclose(out);
	ck_assert_msg(strstr(text, "1000 ended and not joined, as forgotten"), "%s", text);
	/* Coroutines ended by the stop had no joiner. */
	ck_assert_int_eq(stop_and_listen(rt, HAUL_FOREVER, text, sizeof(text)), 0);
	ck_assert_msg(strstr(text, "haul: 1000 coroutines had ended"), "%s", text);
}
END_TEST

/* Joined, detached at the start, detached later: the stop reports none of them. */
START_TEST(joined_and_detached_are_not_counted)
{
	struct haul_runtime *rt = runtime_start(2);
	struct haul_coro *co;
	char text[4096];

	for (int i = 0; i < 100; i++) {
		ck_assert_int_eq(haul_spawn_any(rt, &co, returns_null, NULL, NULL), 0);
		ck_assert_int_eq(haul_join(co, NULL, HAUL_FOREVER), 0);
		ck_assert_int_eq(haul_spawn_any(rt, &co, returns_null, NULL, NULL), 0);
		haul_detach(co);
		ck_assert_int_eq(haul_spawn_any(rt, NULL, returns_null, NULL, NULL), 0);
	}
	WAIT_UNTIL(ended(rt) == 300);
	ck_assert_int_eq(stop_and_listen(rt, HAUL_FOREVER, text, sizeof(text)), 0);
	ck_assert_str_eq(text, "");
}
END_TEST

static void *joins_when_cancelled(void *co)
{
	haul_sleep(1000 * HAUL_S);
	haul_join(co, NULL, HAUL_FOREVER);
	return NULL;
}

/* Its joiner had not come to it yet. */
START_TEST(joined_during_the_stop_is_not_counted)
{
	struct haul_runtime *rt = runtime_start(2);
	struct haul_carrier *home = haul_carrier(rt, 0);
	struct haul_coro *co;
	char text[4096];

	ck_assert_int_eq(haul_spawn_on(home, &co, returns_null, NULL, NULL), 0);
	ck_assert_int_eq(haul_spawn_on(home, NULL, joins_when_cancelled, co, NULL), 0);
	WAIT_UNTIL(ended(rt) == 1);
	ck_assert_int_eq(stop_and_listen(rt, HAUL_FOREVER, text, sizeof(text)), 0);
	ck_assert_str_eq(text, "");
}
END_TEST

/*
 * sched_getcpu() holds a thread up amid its spawn, which asks for the CPU, until the stop waits for
 * it. This function and sched_yield() replace libc's in this program.
 */
static _Thread_local bool spawns, is_stopping;
static atomic_bool amid_spawn, stop_waits, stop_is_over;

int sched_getcpu(void)
{
	unsigned cpu = 0;

	if (spawns) {
		amid_spawn = true;
		while (!stop_waits && !stop_is_over)
			sched_yield();
		if (stop_is_over) /* the runtime is gone */
			pthread_exit("the stop did not wait");
	}
	return syscall(SYS_getcpu, &cpu, NULL, NULL) == 0 ? (int)cpu : -1;
}

int sched_yield(void)
{
	stop_waits |= is_stopping;
	return (int)syscall(SYS_sched_yield);
}

static void *counts(void *arg)
{
	++*(atomic_uint *)arg;
	return NULL;
}

static atomic_uint ran;

static void *spawns_two(void *rt)
{
	void *const args[] = {&ran, &ran};

	spawns = true;
	ck_assert_int_eq(haul_spawn_many(rt, NULL, counts, args, 2, NULL), 0);
	return NULL;
}

START_TEST(stop_waits_for_a_spawn_under_way)
{
	struct haul_runtime *rt = runtime_start(2);
	pthread_t spawner;
	void *wrong;

	ck_assert_int_eq(pthread_create(&spawner, NULL, spawns_two, rt), 0);
	WAIT_UNTIL(amid_spawn);
	is_stopping = true;
	runtime_stop(rt);
	is_stopping = false;
	stop_is_over = true;
	pthread_join(spawner, &wrong);
	ck_assert_pstr_eq(wrong, NULL);
	ck_assert_uint_eq(ran, 2);
}
END_TEST

static atomic_bool too_busy;

/* Its carrier drains its inbox only when the stop has begun. */
static void *spawns_until_the_stop(void *arg)
{
	too_busy = true;
	while (haul_spawn_on(arg, NULL, counts, &ran, NULL) == 0)
		syscall(SYS_sched_yield);
	return NULL;
}

/* Starts, some of them perhaps read by a thief, and the stop: all in one inbox. */
START_TEST(mail_sent_before_the_stop_is_cancelled)
{
	struct haul_coro_opts pinned = {.pinned = true};
	struct haul_runtime *rt = runtime_start_stealing(2, NULL, _i);
	struct haul_carrier *busy = haul_carrier(rt, 0);

	too_busy = false;
	ck_assert_int_eq(
		haul_spawn_on(busy, NULL, spawns_until_the_stop, haul_carrier(rt, 1), &pinned), 0);
	WAIT_UNTIL(too_busy);
	for (int i = 0; i < 300; i++)
		ck_assert_int_eq(haul_spawn_on(busy, NULL, i % 2 ? parks : sleeps, NULL,
					 i % 3 ? NULL : &pinned),
			0);
	ck_assert_int_eq(haul_spawn_many(rt, NULL, parks, NULL, 100, NULL), 0);
	runtime_stop(rt);
}
END_TEST

struct refusing {
	unsigned at;
	unsigned launched;
};

static int refuses(
	void *ctx, unsigned i, const struct haul_place *place, int (*fn)(void *), void *arg)
{
	struct refusing *r = ctx;

	if (i == r->at)
		return -EAGAIN;
	r->launched++;
	return -ENOTSUP;
}

static void joins_none(void *ctx, unsigned i)
{
	ck_abort_msg("carrier %u was not launched", i);
}

START_TEST(launch_that_fails_is_undone)
{
	struct refusing r = {.at = 0};
	struct haul_launcher launcher = {.launch = refuses, .join = joins_none, .ctx = &r};
	struct haul_runtime *rt = NULL;

	ck_assert_int_eq(
		haul_start(&rt, &(struct haul_runtime_opts){.launcher = &launcher}, NULL, 0),
		-EAGAIN);
	ck_assert_ptr_null(rt);
	ck_assert_uint_eq(r.launched, 0);
}
END_TEST

static void *fills(void *arg)
{
	struct haul_coro *co[1000];

	for (int i = 0; i < 1000; i++)
		haul_spawn(&co[i], parks, NULL, NULL);
	haul_yield();
	for (int i = 0; i < 1000; i++) {
		haul_unpark(co[i]);
		haul_join(co[i], NULL, HAUL_FOREVER);
	}
	return NULL;
}

START_TEST(trim_gives_memory_back)
{
	struct haul_runtime *rt = runtime_start(1);

	run_on(rt, 0, fills, NULL);
	ck_assert_uint_gt(haul_trim(rt), 500 * 4096);
	run_on(rt, 0, fills, NULL);
	runtime_stop(rt);
}
END_TEST

SUITE_MAIN("stop", {nothing_to_do_starts_and_stops, 1}, {defaults_start, 1},
	{a_process_has_64_runtimes_at_most, 1}, {two_runtimes_live_side_by_side, 1},
	{stop_cancels_waiting_coroutines, 1}, {stop_refuses_new_spawns, 1},
	{a_cancelled_wait_lets_others_run, 1}, {coroutines_that_do_not_end_are_listed, 1},
	{a_carrier_that_does_not_answer_is_named, 1}, {its_thread_sleeps, 1},
	{a_carrier_that_does_not_answer_runs_many, 1}, {a_coroutine_cannot_stop, 1},
	{a_runtime_that_does_not_run_cannot_be_stopped, 1}, {unjoined_are_counted, 1},
	{joined_and_detached_are_not_counted, 1}, {joined_during_the_stop_is_not_counted, 1},
	{stop_waits_for_a_spawn_under_way, 1},
	{mail_sent_before_the_stop_is_cancelled, HAUL_STEALING ? 1 + HAUL_STEAL_GLOBAL : 1},
	{launch_that_fails_is_undone, 1}, {trim_gives_memory_back, 1})
