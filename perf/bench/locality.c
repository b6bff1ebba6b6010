/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is it worth that a task stays on its carrier? Eight tasks on two carriers have a working set
 * each, and walk it in steps, line by line in random order, with a write to each line. At home all
 * steps of a task run on one carrier. If it moves, each step runs on the other carrier than the
 * step before. If it is stolen, all tasks have one home, and an idle carrier steals slices. One
 * operation is a line; its time is that within steps, without the switches between them, which
 * differ, too.
 *
 * The cases locality-far have their carriers in different clusters.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <haul/haul.h>

#include "harness/harness.h"
#include "harness/plan.h"

#define CARRIERS 2
#define TASKS 8
#define LINE 64
#define WARM_STEPS 2 /* of each task, not measured: on both carriers */
#define FAR (UINT64_C(1) << 63) /* in a case's param, beside the bytes of a working set */

struct line {
	_Alignas(LINE) struct line *next;
	uint64_t writes;
};

struct task;
/* A coroutine that walks the set of its task when the other half, or the same one, has done so. */
struct half {
	struct task *task;
	struct haul_coro *co;
	struct half *next; /* that walks after this one */
};

struct task {
	_Alignas(LINE) struct line *set;
	uint64_t steps; /* that are to do, with those to warm up */
	uint64_t ns; /* in the others */
	bool has_ended;
	struct half halves[2];
};

enum how { HOME, MOVED, STOLEN, HOWS };

/* A side. */
static struct bed {
	struct haul_runtime *rt;
	struct task *tasks;
	uint64_t lines; /* of a set */
	int misses[CARRIERS]; /* a perf event of each carrier's thread, or -1 */
} beds[HOWS];

static void *walk_once(struct task *t, uint64_t lines)
{
	struct line *at = t->set;

	for (uint64_t i = 0; i < lines; i++) {
		at->writes++;
		at = at->next;
	}
	return at;
}

static void step(struct task *t, uint64_t lines, uint64_t measured)
{
	uint64_t start = haul_now();

	PERF_KEEP(walk_once(t, lines));
	if (t->steps <= measured)
		t->ns += haul_now() - start;
	t->steps--;
}

struct run {
	struct bed *bed;
	enum how how;
	uint64_t steps; /* of each task */
};
static struct run now; /* constant while tasks run */

static void *walk_in_turn(void *arg)
{
	struct half *h = arg;
	struct task *t = h->task;

	for (;;) {
		haul_park(HAUL_FOREVER);
		if (t->steps == 0)
			break;
		step(t, now.bed->lines, now.steps);
		haul_unpark(h->next->co);
	}
	if (!t->has_ended) {
		t->has_ended = true;
		haul_unpark(h->next->co);
	}
	return NULL;
}

static void *walk_and_yield(void *arg)
{
	struct task *t = arg;

	while (t->steps > 0) {
		step(t, now.bed->lines, now.steps);
		haul_yield();
	}
	return NULL;
}

/* The carrier of each half: both on one at home. */
static unsigned carrier_of(unsigned task, unsigned half)
{
	return (task + (now.how == MOVED ? half : 0)) % CARRIERS;
}

static void spawn_halves(struct task *t, unsigned i)
{
	const struct haul_coro_opts pinned = {.name = "half", .pinned = true};

	for (unsigned k = 0; k < 2; k++) {
		struct haul_carrier *on = haul_carrier(now.bed->rt, carrier_of(i, k));

		t->halves[k] = (struct half){.task = t, .next = &t->halves[1 - k]};
		perf_must(haul_spawn_on(on, &t->halves[k].co, walk_in_turn, &t->halves[k], &pinned),
			"haul_spawn_on");
	}
}

static void *run_inside(void *arg)
{
	struct task *tasks = now.bed->tasks;

	for (unsigned i = 0; i < TASKS; i++) {
		struct task *t = &tasks[i];

		t->steps = now.steps + WARM_STEPS;
		t->ns = 0;
		t->has_ended = false;
		if (now.how != STOLEN)
			spawn_halves(t, i);
		else
			perf_must(haul_spawn(&t->halves[0].co, walk_and_yield, t, NULL),
				"haul_spawn");
	}
	for (unsigned i = 0; now.how != STOLEN && i < TASKS; i++)
		haul_unpark(tasks[i].halves[0].co);
	for (unsigned i = 0; i < TASKS; i++)
		for (unsigned k = 0; k < (now.how == STOLEN ? 1 : 2); k++)
			haul_join(tasks[i].halves[k].co, NULL, HAUL_FOREVER);
	return NULL;
}

static uint64_t stolen(const struct bed *b)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < CARRIERS; i++) {
		struct haul_carrier_stats st;

		haul_carrier_get_stats(haul_carrier(b->rt, i), &st);
		n += st.stolen;
	}
	return n;
}

static uint64_t misses(const struct bed *b)
{
	uint64_t sum = 0, one;

	for (unsigned i = 0; i < CARRIERS; i++)
		if (b->misses[i] >= 0 && read(b->misses[i], &one, sizeof(one)) == sizeof(one))
			sum += one;
	return sum;
}

static uint64_t run(enum how how, uint64_t n)
{
	const struct haul_coro_opts pinned = {.name = "run", .pinned = true};
	struct bed *b = &beds[how];
	uint64_t steps = n / (TASKS * b->lines), all = (steps + WARM_STEPS) * TASKS, ns = 0;
	uint64_t stolen_before = stolen(b), misses_before = misses(b);
	struct haul_coro *co;

	now = (struct run){b, how, steps};
	perf_must(haul_spawn_on(haul_carrier(b->rt, 0), &co, run_inside, NULL, &pinned),
		"haul_spawn_on");
	haul_join(co, NULL, HAUL_FOREVER);
	for (unsigned i = 0; i < TASKS; i++)
		ns += b->tasks[i].ns;
	if (how == STOLEN)
		perf_extra("stolen_%", 100.0 * (double)(stolen(b) - stolen_before) / (double)all);
	if (b->misses[0] >= 0)
		perf_extra("misses_per_line",
			(double)(misses(b) - misses_before) / ((double)all * (double)b->lines));
	return ns;
}

/* The thread's misses of the first data cache, in user mode. */
static void *open_misses(void *arg)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HW_CACHE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_CACHE_L1D | PERF_COUNT_HW_CACHE_OP_READ << 8 |
			PERF_COUNT_HW_CACHE_RESULT_MISS << 16,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	*(int *)arg = fd >= 0 ? fd : -errno;
	return NULL;
}

static void count_misses(struct bed *b)
{
	const struct haul_coro_opts pinned = {.name = "counter", .pinned = true};
	static bool said;
	struct haul_coro *co;

	for (unsigned i = 0; i < CARRIERS; i++) {
		perf_must(haul_spawn_on(
				  haul_carrier(b->rt, i), &co, open_misses, &b->misses[i], &pinned),
			"haul_spawn_on");
		haul_join(co, NULL, HAUL_FOREVER);
	}
	if (b->misses[0] < 0 && !said) {
		fprintf(stderr,
			"note: no cache misses are counted: perf_event_open: %s (a virtual machine "
			"may have no counters; see kernel.perf_event_paranoid)\n",
			strerror(-b->misses[0]));
		said = true;
	}
}

/* Links the lines in random order, the same for each task. */
static struct line *make_set(uint64_t lines)
{
	struct line *set = aligned_alloc(4096, (lines * LINE + 4095) / 4096 * 4096);
	uint64_t *order = malloc(lines * sizeof(*order));
	uint64_t random = 1;

	if (!set || !order)
		abort();
	for (uint64_t i = 0; i < lines; i++) {
		uint64_t k;

		random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		k = (random >> 33) % (i + 1);
		order[i] = order[k];
		order[k] = i;
	}
	for (uint64_t i = 0; i < lines; i++)
		set[order[i]] = (struct line){.next = &set[order[(i + 1) % lines]]};
	free(order);
	return set;
}

/* Two CPUs of different clusters, beyond those of the harness. -ENODEV: there are none. */
static int plan_far(struct haul_plan **plan)
{
	static bool said;
	struct haul_plan *all;
	cpu_set_t before, any;
	char cpus[32] = "";
	int err;

	memset(&any, 0xff, sizeof(any));
	sched_getaffinity(0, sizeof(before), &before);
	sched_setaffinity(0, sizeof(any), &any); /* to those that there are */
	err = haul_plan_create(&all, NULL, NULL, 0);
	if (!err) {
		for (unsigned i = 1; i < all->carriers && !*cpus; i++)
			if (all->places[i].cluster != all->places[0].cluster)
				snprintf(cpus, sizeof(cpus), "%d,%d", all->places[0].cpu,
					all->places[i].cpu);
		haul_plan_destroy(all);
		err = *cpus
			? haul_plan_create(plan, &(struct haul_plan_opts){.cpus = cpus}, NULL, 0)
			: -ENODEV;
	}
	sched_setaffinity(0, sizeof(before), &before);
	if (err == -ENODEV && !said)
		fputs("note: locality-far needs CPUs of different clusters; here all share one "
		      "last-level cache\n",
			stderr);
	said |= err == -ENODEV;
	return err;
}

static int set_up(enum how how, uint64_t param)
{
	struct bed *b = &beds[how];
	struct haul_runtime_opts opts = {
		.steal = how == STOLEN ? HAUL_STEAL_GLOBAL : HAUL_STEAL_OFF};
	struct haul_plan *plan;
	int err = param & FAR ? plan_far(&plan) : perf_plan(&plan, 0, CARRIERS);

	if (err)
		return err;
	opts.plan = plan;
	err = haul_start(&b->rt, &opts, NULL, 0);
	haul_plan_destroy(plan);
	if (err)
		return err;
	b->lines = (param & ~FAR) / LINE;
	b->tasks = aligned_alloc(LINE, TASKS * sizeof(*b->tasks));
	if (!b->tasks)
		abort();
	memset(b->tasks, 0, TASKS * sizeof(*b->tasks));
	for (unsigned i = 0; i < TASKS; i++)
		b->tasks[i].set = make_set(b->lines);
	count_misses(b);
	return 0;
}

static void tear_down(enum how how)
{
	struct bed *b = &beds[how];

	perf_must(haul_stop(b->rt, 60 * HAUL_S), "haul_stop");
	for (unsigned i = 0; i < TASKS; i++)
		free(b->tasks[i].set);
	for (unsigned i = 0; i < CARRIERS; i++)
		if (b->misses[i] >= 0)
			close(b->misses[i]);
	free(b->tasks);
}

#define SIDE(name, how)                          \
	static int set_up_##name(uint64_t param) \
	{                                        \
		return set_up(how, param);       \
	}                                        \
	static uint64_t run_##name(uint64_t n)   \
	{                                        \
		return run(how, n);              \
	}                                        \
	static void tear_down_##name(void)       \
	{                                        \
		tear_down(how);                  \
	}
SIDE(home, HOME)
SIDE(moved, MOVED)
SIDE(stolen, STOLEN)

#define SIDES                                                                    \
	{                                                                        \
		{"at home", set_up_home, run_home, tear_down_home},              \
			{"moved", set_up_moved, run_moved, tear_down_moved},     \
			{"stolen", set_up_stolen, run_stolen, tear_down_stolen}, \
	}

#define CASE(title, bytes, far)                                                                \
	{                                                                                      \
		.name = title, .question = "a line of a task's working set", .cpus = CARRIERS, \
		.param = (bytes) | (far), .unit = TASKS * (bytes) / LINE, .sides = SIDES,      \
	}

static const struct perf_case cases[] = {
	CASE("locality/1k", 1 << 10, 0),
	CASE("locality/4k", 1 << 12, 0),
	CASE("locality/16k", 1 << 14, 0),
	CASE("locality/64k", 1 << 16, 0),
	CASE("locality/256k", 1 << 18, 0),
	CASE("locality/1m", 1 << 20, 0),
	CASE("locality-far/1k", 1 << 10, FAR),
	CASE("locality-far/16k", 1 << 14, FAR),
	CASE("locality-far/256k", 1 << 18, FAR),
	CASE("locality-far/1m", 1 << 20, FAR),
	{0},
};

int main(int argc, char **argv)
{
	return perf_main(argc, argv, cases);
}
