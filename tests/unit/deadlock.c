/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cycles of coroutines that wait for each other are told, each once, and nothing else is. A
 * generator makes graphs of waits; the cycles that the test finds in the graph are compared with
 * those that were told.
 */
#include <signal.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "coro/fiber.h"
#include "coro_child.h"
#include "sched/look/deadlock.h"
#include "sched/run/poller.h"
#include "sched/state/self.h"
#include "support/runtime.h"
#include "support/stress.h"
#include "support/suite.h"

#define NODES 48
#define GROUP 6 /* a node waits for one of its group */
#define CARRIERS 3
#define NONE NODES
#define LATE (100000 * HAUL_S)

enum kind {
	PARKS,
	RUNS,
	LOCKS,
	LOCKS_CANCELLABLY,
	JOINS,
	HAS_CHILD, /* waits for a child, which locks */
	/* these do not wait for ever */
	LOCKS_UNTIL,
	JOINS_UNTIL,
	IS_CANCELLED,
	KINDS
};

struct node {
	enum kind kind;
	unsigned target;
	unsigned wraps; /* in a shield, in a bound value, in both, in none */
	char name[8], child_name[8];
	struct haul_mutex mutex; /* its coroutine holds it */
	struct haul_coro *co;
};

/* Members of a cycle: nodes, and the children of nodes. */
struct members {
	uint64_t nodes, children;
};

static struct {
	struct haul_runtime *rt;
	struct node nodes[NODES];
	struct haul_event begin;
	struct haul_mutex kept; /* by a coroutine that parks */
	struct haul_sem locked;
	atomic_bool ends;
	atomic_uint step;
} s;

static int locks_as_child(void *mutex)
{
	haul_mutex_lock(mutex);
	return 0;
}

static void runs_on(void)
{
	while (!s.ends)
		haul_yield();
}

/* Until the program ends, cancelled or not. */
static void rest(void)
{
	haul_mutex_lock(&s.kept);
}

static void *keep(void *arg)
{
	haul_mutex_lock(&s.kept);
	haul_sem_post(&s.locked);
	haul_park(HAUL_FOREVER);
	return NULL;
}

static void wait_for_child(struct node *n, struct haul_mutex *m)
{
	HAUL_SCOPE(scope, HAUL_FOREVER, HAUL_SCOPE_ALL);
	haul_scope_spawn(
		&scope, locks_as_child, m, &(struct haul_coro_opts){.name = n->child_name});
}

static void wait_as_told(struct node *n)
{
	struct node *target = &s.nodes[n->target];
	uint64_t late = haul_in(LATE);

	switch (n->kind) {
	case LOCKS:
		haul_mutex_lock(&target->mutex);
		break;
	case LOCKS_CANCELLABLY:
	case IS_CANCELLED:
		haul_mutex_lock_by(&target->mutex, HAUL_FOREVER);
		break;
	case LOCKS_UNTIL:
		haul_mutex_lock_by(&target->mutex, late);
		break;
	case JOINS:
		haul_join(target->co, NULL, HAUL_FOREVER);
		break;
	case JOINS_UNTIL:
		haul_join(target->co, NULL, late);
		break;
	case HAS_CHILD:
		wait_for_child(n, &target->mutex);
		break;
	case RUNS:
		runs_on();
		break;
	default:
		break;
	}
	rest();
}

static void wrap_in_value(struct node *n)
{
	HAUL_WITH(&s, n);
	wait_as_told(n);
}

static void *be_a_node(void *arg)
{
	struct node *n = arg;

	haul_mutex_lock(&n->mutex);
	haul_sem_post(&s.locked);
	haul_event_wait(&s.begin, HAUL_FOREVER);
	if (n->wraps & 1) {
		HAUL_SHIELD(haul_in(LATE));
		if (n->wraps & 2)
			wrap_in_value(n);
		else
			wait_as_told(n);
	} else if (n->wraps & 2) {
		wrap_in_value(n);
	} else {
		wait_as_told(n);
	}
	return NULL;
}

static void *let_them_begin(void *arg)
{
	for (int i = 0; i < NODES + 1; i++) /* and the one that keeps s.kept */
		haul_sem_wait(&s.locked, HAUL_FOREVER);
	haul_event_set(&s.begin);
	return NULL;
}

static void *poll_on(void *arg)
{
	struct haul_carrier *c = hauli_self();

	while (hauli_poller_go_on(c, false))
		;
	return NULL;
}

static void draw_graph(struct hauli_random *random)
{
	bool joined[NODES] = {false};

	for (unsigned i = 0; i < NODES; i++) {
		struct node *n = &s.nodes[i];
		unsigned first = i - i % GROUP;

		do
			n->target = first + hauli_random_below(random, GROUP);
		while (n->target == i);
		n->kind = hauli_random_below(random, 3) ? LOCKS + hauli_random_below(random, 4)
							: hauli_random_below(random, KINDS);
		n->wraps = hauli_random_below(random, 8);
		if (n->kind == HAS_CHILD) /* when the shield's time is over, it waits for ever */
			n->wraps &= 2;
		if (n->kind == JOINS || n->kind == JOINS_UNTIL) {
			if (joined[n->target])
				n->kind = PARKS; /* a coroutine is joined once */
			joined[n->target] = true;
		}
		snprintf(n->name, sizeof(n->name), "n%u", i);
		snprintf(n->child_name, sizeof(n->child_name), "c%u", i);
	}
}

static unsigned next_of(unsigned i)
{
	const struct node *n = &s.nodes[i];
	/* A shield has a deadline, which ends all waits but this one. */
	bool waits = n->wraps & 1 ? n->kind == LOCKS : n->kind >= LOCKS && n->kind <= HAS_CHILD;

	return waits ? n->target : NONE;
}

/* The cycle through node i, if i is its first node. */
static bool cycle_of(unsigned i, struct members *m)
{
	unsigned at = i, scopes = 0;

	*m = (struct members){0};
	for (unsigned n = 0; n < NODES && at != NONE; n++) {
		m->nodes |= UINT64_C(1) << at;
		if (s.nodes[at].kind == HAS_CHILD) {
			m->children |= UINT64_C(1) << at;
			scopes++;
		}
		at = next_of(at);
		if (at == i)
			return scopes <= 1; /* of two scopes: not found (deadlock.h) */
		if (at < i)
			return false;
	}
	return false;
}

/* How a graph is run. */
struct setting {
	uint64_t seed;
	enum haul_steal steal;
	bool virtual_time, polls, order;
};

static void start(const struct setting *how)
{
	const struct haul_plan_opts wish = {.carriers = CARRIERS};
	struct haul_runtime_opts opts = {.steal = how->steal,
		.virtual_time = how->virtual_time,
		.watchdog_ns = HAUL_FOREVER};
	struct haul_plan *plan;
	char why[256];

	ck_assert_int_eq(haul_plan_create(&plan, &wish, why, sizeof(why)), 0);
	opts.plan = plan;
	ck_assert_int_eq(haul_start(&s.rt, &opts, NULL, 0), 0);
	haul_plan_destroy(plan);
}

static void run_graph(const struct setting *how)
{
	struct haul_coro *first;

	start(how);
	for (unsigned i = 0; i < CARRIERS && how->polls; i++)
		haul_poller_register(haul_carrier(s.rt, i), NULL, poll_on, NULL, NULL);
	for (unsigned i = 0; i < NODES; i++) {
		struct node *n = &s.nodes[i];
		const struct haul_coro_opts opts = {
			.name = n->name, .order_key = how->order ? (uint8_t)(1 + i % 4) : 0};

		haul_spawn_on(haul_carrier(s.rt, i % CARRIERS), &n->co, be_a_node, n, &opts);
	}
	haul_spawn_on(haul_carrier(s.rt, 1), NULL, keep, NULL, NULL);
	haul_spawn_on(haul_carrier(s.rt, 0), &first, let_them_begin, NULL, NULL);
	haul_join(first, NULL, HAUL_FOREVER);
	for (unsigned i = 0; i < NODES; i++)
		if (s.nodes[i].kind == IS_CANCELLED)
			haul_cancel(s.nodes[i].co);
}

#define HEAD "haul: deadlock: "

static unsigned count_told(const char *text)
{
	unsigned n = 0;

	for (; (text = strstr(text, HEAD)); text++)
		n++;
	return n;
}

/* The members in the list that begins at text, and ends with the next one. */
static struct members read_members(const char *text)
{
	const char *line = strchr(text, '\n'), *end = strstr(text + 1, HEAD);
	struct members m = {0};
	unsigned i;
	char kind;

	for (; line && (!end || line < end); line = strchr(line + 1, '\n')) {
		if (sscanf(line, "\n  carrier %*u: %c%u ", &kind, &i) != 2 || i >= NODES)
			continue;
		*(kind == 'n' ? &m.nodes : &m.children) |= UINT64_C(1) << i;
	}
	return m;
}

/* True if the text tells the cycle. */
static bool tells(const char *text, const struct members *m)
{
	while ((text = strstr(text, HEAD))) {
		struct members told = read_members(text++);

		if (told.nodes == m->nodes && told.children == m->children)
			return true;
	}
	return false;
}

/* More cycles are told than there are if one is told twice, or wrongly. */
static bool is_right(const char *text, unsigned expected)
{
	struct members m;

	for (unsigned i = 0; i < NODES; i++)
		if (cycle_of(i, &m) && !tells(text, &m)) {
			fprintf(stderr, "not told: the cycle of n%u\n", i);
			return false;
		}
	return count_told(text) == expected;
}

static void look_all(struct hauli_deadlocks *d, FILE *out)
{
	while (!hauli_deadlocks_look(d))
		;
	fflush(out);
}

/* In a child process, since its coroutines never end. */
static void tell_cycles(void *arg)
{
	const struct setting *how = arg;
	struct hauli_random random;
	struct hauli_deadlocks *d;
	unsigned expected = 0;
	struct members m;
	char *text = NULL;
	uint64_t until;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	hauli_random_init(&random, how->seed);
	draw_graph(&random);
	for (unsigned i = 0; i < NODES; i++)
		expected += cycle_of(i, &m);
	run_graph(how);
	d = hauli_deadlocks_create(s.rt, out);
	do
		look_all(d, out);
	while (count_told(text) < expected);
	/* Cycles that the watchdog tells late, or wrongly. */
	until = hauli_ticks() + hauli_ticks_from_ns(300 * HAUL_MS);
	while (hauli_ticks() < until)
		look_all(d, out);
	fprintf(stderr, "%u cycles, %u told\n", expected, count_told(text));
	if (!is_right(text, expected)) {
		fputs(text, stderr);
		_exit(1);
	}
	_exit(0);
}

START_TEST(the_cycles_of_a_graph_are_told_and_nothing_else)
{
	struct setting how = {
		.seed = stress_number("HAUL_STRESS_SEED", 1) + (uint64_t)_i,
		.steal = _i % 2 && HAUL_STEALING ? HAUL_STEAL_GLOBAL : HAUL_STEAL_OFF,
		.virtual_time = _i % 4 == 2,
		.polls = _i % 8 == 4 || _i % 8 == 3,
		.order = _i % 4 == 3,
	};
	struct child c = child_run(tell_cycles, &how);

	if (!WIFEXITED(c.status) || WEXITSTATUS(c.status) != 0)
		printf("# HAUL_STRESS_SEED=%" PRIu64 "\n", how.seed - (uint64_t)_i);
	CHILD_EXITED(c, 0);
	child_show(&c);
}
END_TEST

static void *lock_crosswise(void *arg)
{
	struct node *n = arg;

	haul_mutex_lock(&n->mutex);
	haul_sem_post(&s.locked);
	while (s.step < 2)
		haul_yield();
	haul_mutex_lock(&s.nodes[n->target].mutex);
	return NULL;
}

static void *count_up(void *arg)
{
	haul_sem_wait(&s.locked, HAUL_FOREVER);
	s.step++;
	return NULL;
}

/* By the watchdog of a runtime with default options. */
static void lock_two_crosswise(void)
{
	haul_start(&s.rt, NULL, NULL, 0);
	for (unsigned i = 0; i < 2; i++) {
		s.nodes[i].target = 1 - i;
		haul_spawn_any(s.rt, NULL, lock_crosswise, &s.nodes[i],
			&(struct haul_coro_opts){.name = "philosopher"});
		haul_spawn_any(s.rt, NULL, count_up, NULL, NULL);
	}
	for (;;)
		pause(); /* the parent ends it when it has read enough */
}

START_TEST(the_watchdog_tells_a_cycle_while_the_program_runs)
{
	/* With TSan a carrier that sleeps takes no signals, so there are no details. */
	struct child c = child_until(lock_two_crosswise, HEAD "2 coroutines wait for each other",
		HAULI_TSAN ? ": philosopher 0x" : ", held by philosopher 0x");

	child_show(&c);
}
END_TEST

SUITE_MAIN("deadlock", {the_watchdog_tells_a_cycle_while_the_program_runs, 1},
	{the_cycles_of_a_graph_are_told_and_nothing_else, HAULI_TSAN ? 2 : 8})
