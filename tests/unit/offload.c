/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls on threads that are no carriers: where they run, what ends their wait, their threads. */
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "offload_bed.h"
#include "support/suite.h"

struct place {
	pid_t tid;
	char name[16];
	sigset_t blocked;
	cpu_set_t cpus;
	int slack_ns; /* of timers */
	bool no_coroutine;
};

static void look_around(void *arg)
{
	struct place *p = arg;

	p->tid = gettid();
	pthread_getname_np(pthread_self(), p->name, sizeof(p->name));
	pthread_sigmask(SIG_BLOCK, NULL, &p->blocked);
	pthread_getaffinity_np(pthread_self(), sizeof(p->cpus), &p->cpus);
	p->slack_ns = prctl(PR_GET_TIMERSLACK);
	p->no_coroutine = !haul_self() && !haul_carrier_self();
}

static void *looks_around(void *arg)
{
	pid_t here = gettid();
	struct place p = {0};

	EXPECT(haul_offload(look_around, &p, HAUL_FOREVER) == 0);
	EXPECT(p.tid != here && p.no_coroutine);
	EXPECT(strcmp(p.name, "offload") == 0);
	EXPECT(sigismember(&p.blocked, SIGTERM) && sigismember(&p.blocked, SIGUSR1));
	EXPECT(!sigismember(&p.blocked, SIGSEGV));
	EXPECT(CPU_COUNT(&p.cpus) > 0);
	EXPECT(p.slack_ns == 50000);
	if (arg)
		*(cpu_set_t *)arg = p.cpus;
	return NULL;
}

START_TEST(a_call_is_on_a_thread_of_its_own)
{
	begin(2, &(struct haul_offload_opts){0});
	ck_assert_pstr_eq(run_on(s.rt, 0, looks_around, NULL), NULL);
	ck_assert_pstr_eq(run_on(s.rt, 1, looks_around, NULL), NULL);
	runtime_stop(s.rt);
}
END_TEST

static int first_of(const cpu_set_t *cpus)
{
	int cpu = 0;

	while (!CPU_ISSET(cpu, cpus))
		cpu++;
	return cpu;
}

/* Carriers are pinned to the first n CPUs that the process may use. */
static struct haul_runtime *start_pinned(const cpu_set_t *all, int n)
{
	struct haul_plan_opts opts = {0};
	struct haul_runtime *rt = NULL;
	struct haul_plan *plan = NULL;
	char cpus[4096] = "", why[256] = "";
	size_t len = 0;

	for (int cpu = 0; n > 0 && cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, all))
			continue;
		len += (size_t)snprintf(
			cpus + len, sizeof(cpus) - len, "%s%d", len ? "," : "", cpu);
		n--;
	}
	opts.cpus = cpus;
	ck_assert_msg(haul_plan_create(&plan, &opts, why, sizeof(why)) == 0, "%s", why);
	ck_assert_int_eq(
		haul_start(&rt,
			&(struct haul_runtime_opts){.plan = plan, .watchdog_ns = HAUL_FOREVER},
			NULL, 0),
		0);
	haul_plan_destroy(plan);
	return rt;
}

/* Before the first carrier, with a carrier on the first CPU, and with carriers on all. */
START_TEST(its_cpus_have_no_carriers_if_there_are_others)
{
	struct haul_runtime *on_one, *on_all;
	cpu_set_t all, cpus, overlap;
	int n;

	pthread_getaffinity_np(pthread_self(), sizeof(all), &all);
	n = CPU_COUNT(&all);
	if (n < 2 || n > 512)
		return;
	on_one = start_pinned(&all, 1);
	ck_assert_pstr_eq(run_on(on_one, 0, looks_around, &cpus), NULL);
	CPU_AND(&overlap, &cpus, &all);
	ck_assert_int_eq(CPU_COUNT(&overlap), n - 1);
	WAIT_UNTIL(workers_on(-1) == 2); /* also the one that has had no call */
	ck_assert_uint_eq(workers_on(first_of(&all)), 0);
	ck_assert_int_eq(CPU_COUNT(&cpus), n - 1);

	on_all = start_pinned(&all, n);
	ck_assert_pstr_eq(run_on(on_one, 0, looks_around, &cpus), NULL);
	ck_assert_msg(CPU_EQUAL(&cpus, &all), "%d of %d CPUs", CPU_COUNT(&cpus), n);
	runtime_stop(on_all);

	ck_assert_pstr_eq(run_on(on_one, 0, looks_around, &cpus), NULL);
	ck_assert_int_eq(CPU_COUNT(&cpus), n - 1);
	runtime_stop(on_one);
}
END_TEST

static void *yields_once(void *arg)
{
	haul_yield();
	return NULL;
}

START_TEST(the_carrier_runs_others_meanwhile)
{
	begin(1, &(struct haul_offload_opts){0});
	call(0, HAUL_FOREVER);
	wait_begun(1);
	for (int i = 0; i < 100; i++)
		run_on(s.rt, 0, yields_once, NULL);
	ck_assert_uint_eq(stats().running, 1);
	let_end(1);
	ck_assert_int_eq(result_of(0), 0);
	ck_assert_uint_eq(stats().running, 0);
	runtime_stop(s.rt);
}
END_TEST

/* One thread, and room for one in the queue: what each end of the wait there returns. */
START_TEST(only_the_wait_in_the_queue_ends_early)
{
	uint64_t refused = stats().refused, withdrawn = stats().withdrawn, done = stats().done;

	begin(1, &(struct haul_offload_opts){.threads = 1, .queue = 1});
	call(0, haul_in(HAUL_MS));
	wait_begun(1);
	call(1, haul_in(20 * HAUL_MS));
	ck_assert_int_eq(result_of(1), -ETIMEDOUT);
	call(1, 0);
	ck_assert_int_eq(result_of(1), -EAGAIN);
	call(1, HAUL_FOREVER);
	wait_queued(1);
	call(2, HAUL_FOREVER);
	ck_assert_int_eq(result_of(2), -ENOBUFS);
	haul_cancel(s.cos[1]);
	ck_assert_int_eq(result_of(1), -ECANCELED);
	ck_assert_uint_eq(s.called, 1);

	call(1, HAUL_FOREVER);
	wait_queued(1);
	haul_cancel(s.cos[0]); /* it has begun */
	run_on(s.rt, 0, yields_once, NULL);
	ck_assert_uint_eq(s.returned, 4);
	let_end(2);
	ck_assert_int_eq(result_of(0), 0);
	ck_assert_int_eq(result_of(1), 0);
	ck_assert_uint_eq(s.called, 2);
	ck_assert_uint_eq(stats().threads, 1);
	ck_assert_uint_eq(stats().refused, refused + 1);
	ck_assert_uint_eq(stats().withdrawn, withdrawn + 2);
	ck_assert_uint_eq(stats().done, done + 2);
	ck_assert_uint_gt(stats().queue_ns_max, 0);
	runtime_stop(s.rt);
}
END_TEST

/* What is around the call: a cancel that has come, a shield, a scope's deadline. */
static void *in_blocks(void *arg)
{
	int err;

	haul_cancel(haul_self());
	EXPECT(haul_offload(counts, NULL, HAUL_FOREVER) == -ECANCELED);
	EXPECT(haul_offload(counts, NULL, 0) == -ECANCELED);
	EXPECT(s.called == 1); /* the one that blocks */
	{
		HAUL_SHIELD(haul_in(HOUR));
		{
			HAUL_SCOPE(scope, haul_in(5 * HAUL_MS), HAUL_SCOPE_ALL);
			err = haul_offload(counts, NULL, HAUL_FOREVER);
		}
		EXPECT(err == -ETIMEDOUT && s.called == 1);
		let_end(1);
		EXPECT(haul_offload(counts, NULL, HAUL_FOREVER) == 0);
	}
	EXPECT(s.called == 2);
	return NULL;
}

START_TEST(cancels_shields_and_scopes_are_those_of_other_waits)
{
	begin(1, &(struct haul_offload_opts){.threads = 1});
	call(0, HAUL_FOREVER);
	wait_begun(1);
	ck_assert_pstr_eq(run_on(s.rt, 0, in_blocks, NULL), NULL);
	ck_assert_int_eq(result_of(0), 0);
	runtime_stop(s.rt);
}
END_TEST

START_TEST(calls_one_after_the_other_need_one_thread)
{
	begin(1, &(struct haul_offload_opts){.threads = 1});
	ck_assert_pstr_eq(run_on(s.rt, 0, calls_one_after_the_other, NULL), NULL);
	ck_assert_uint_eq(s.called, 1001);
	ck_assert_uint_eq(stats().threads, 1);
	runtime_stop(s.rt);
}
END_TEST

/* As many threads as calls, and one to spare; then fewer. */
START_TEST(threads_come_and_go)
{
	begin(1, &(struct haul_offload_opts){.idle_ns = HAUL_FOREVER});
	ck_assert_uint_eq(workers_on(-1), 0);
	for (unsigned i = 0; i < CALLERS; i++)
		call(i, HAUL_FOREVER);
	wait_begun(CALLERS);
	WAIT_UNTIL(workers_on(-1) == CALLERS + 1);
	let_end(CALLERS);
	for (unsigned i = 0; i < CALLERS; i++)
		ck_assert_int_eq(result_of(i), 0);
	ck_assert_int_eq(haul_offload_set(&(struct haul_offload_opts){.threads = 4}), 0);
	ck_assert_uint_eq(stats().threads, 4);
	WAIT_UNTIL(workers_on(-1) == 4);
	ck_assert_int_eq(
		haul_offload_set(&(struct haul_offload_opts){.threads = 4, .idle_ns = HAUL_MS}), 0);
	call(0, HAUL_FOREVER); /* those that are idle have the old limit until they run */
	let_end(1);
	ck_assert_int_eq(result_of(0), 0);
	ck_assert_int_eq(haul_offload_set(&(struct haul_offload_opts){.threads = 5000}), -EINVAL);
	runtime_stop(s.rt);
	ck_assert_uint_eq(workers_on(-1), 0);
	ck_assert_uint_eq(stats().threads, 0);
}
END_TEST

START_TEST(idle_threads_end_but_one)
{
	begin(1, &(struct haul_offload_opts){.idle_ns = HAUL_MS});
	for (unsigned i = 0; i < CALLERS; i++)
		call(i, HAUL_FOREVER);
	wait_begun(CALLERS);
	let_end(CALLERS);
	for (unsigned i = 0; i < CALLERS; i++)
		ck_assert_int_eq(result_of(i), 0);
	WAIT_UNTIL(workers_on(-1) == 1);
	ck_assert_pstr_eq(run_on(s.rt, 0, calls_one_after_the_other, NULL), NULL);
	runtime_stop(s.rt);
	ck_assert_uint_eq(workers_on(-1), 0);
}
END_TEST

/* The pool stays while one of two runtimes does. */
START_TEST(the_last_stop_ends_the_threads)
{
	struct haul_runtime *other;

	begin(1, &(struct haul_offload_opts){0});
	other = runtime_start(1);
	ck_assert_pstr_eq(run_on(other, 0, looks_around, NULL), NULL);
	runtime_stop(other);
	ck_assert_uint_gt(workers_on(-1), 0);
	ck_assert_pstr_eq(run_on(s.rt, 0, looks_around, NULL), NULL);
	runtime_stop(s.rt);
	ck_assert_uint_eq(workers_on(-1), 0);
}
END_TEST

/* Small stacks: the first call starts a thread on its caller's. */
START_TEST(a_call_needs_little_stack)
{
	const struct haul_coro_opts small = {.stack_size = 1};
	struct haul_coro *co;
	void *wrong = "not joined";

	begin(1, &(struct haul_offload_opts){0});
	ck_assert_int_eq(
		haul_spawn_on(haul_carrier(s.rt, 0), &co, calls_one_after_the_other, NULL, &small),
		0);
	ck_assert_int_eq(haul_join(co, &wrong, HAUL_FOREVER), 0);
	ck_assert_pstr_eq(wrong, NULL);
	runtime_stop(s.rt);
}
END_TEST

SUITE_MAIN("offload", {a_call_is_on_a_thread_of_its_own, 1},
	{its_cpus_have_no_carriers_if_there_are_others, 1}, {the_carrier_runs_others_meanwhile, 1},
	{only_the_wait_in_the_queue_ends_early, 1},
	{cancels_shields_and_scopes_are_those_of_other_waits, 1},
	{calls_one_after_the_other_need_one_thread, 1}, {threads_come_and_go, 1},
	{idle_threads_end_but_one, 1}, {the_last_stop_ends_the_threads, 1},
	{a_call_needs_little_stack, 1})
