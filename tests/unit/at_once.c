/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Objects whose coroutines begin at once (spawn_records.c). Each order of slices that comes of it
 * must also come of the run queue, if the same objects arrive in two bursts: the second one after
 * the round that runs the first one, or just before the slice that follows the first one. So
 * programs of a few objects, all short ones among them, are run in these ways, and the orders
 * compared.
 */
#include <stdlib.h>

#include <haul/scope.h>
#include <haul/sync.h>

#include "sched/glue.h"
#include "support/runtime.h"
#include "support/suite.h"

#define MOST 200
#define TRACE 64
#define HELPERS 4
#define PHASES (HAULI_LIFO_RUN + 1) /* of the LIFO slot */

struct object {
	char before[24]; /* the record is not at the beginning */
	struct hauli_record record;
	unsigned number;
	char does;
};

static struct object objects[MOST];

static struct {
	struct haul_runtime *rt;
	struct hauli_prototype prototype;
	struct haul_coro *helpers[HELPERS], *parked[MOST];
	struct haul_mutex mutex;
	struct haul_sem sem;
	struct haul_event event;
	unsigned n, begun, ended, has_run, nb_parked, wrong, len;
	unsigned late; /* the first object that arrives with the next slice; 0: none */
	char trace[TRACE];
	atomic_bool done, computes, is_seen;
} t;

static void push(struct haul_carrier *c, unsigned from, unsigned n, bool at_once);

/* A slice begins. Each object has a letter; what it does after a wait has the capital one. */
static void note(char what)
{
	if (t.late > 0 && t.begun == t.late) {
		push(haul_carrier_self(), t.late, t.n - t.late, false);
		t.late = 0;
	}
	if (t.len < TRACE - 1)
		t.trace[t.len++] = what;
}

static void *helps(void *arg)
{
	while (haul_park(HAUL_FOREVER) == 0)
		note('!');
	return NULL;
}

static void *helps_for_long(void *arg)
{
	while (haul_park(HAUL_FOREVER) == 0) {
		note(':');
		haul_yield();
		note(';');
		(void)haul_park(0); /* a permit that has come meanwhile */
	}
	return NULL;
}

static void *takes(void *arg)
{
	while (haul_sem_wait(&t.sem, HAUL_FOREVER) == 0) {
		note('?');
		while (haul_sem_wait(&t.sem, 0) == 0)
			;
	}
	return NULL;
}

static void *awaits(void *arg)
{
	while (haul_event_wait(&t.event, HAUL_FOREVER) == 0) {
		haul_event_reset(&t.event);
		note('=');
	}
	return NULL;
}

static void *is_child(void *arg)
{
	note('+');
	return NULL;
}

static int is_child_of_scope(void *arg)
{
	note('+');
	return 0;
}

static void opens_scope(void)
{
	HAUL_SCOPE(scope, HAUL_FOREVER, HAUL_SCOPE_ALL);

	haul_scope_spawn(&scope, is_child_of_scope, NULL, NULL);
}

static void locks(unsigned number)
{
	if (haul_mutex_lock_by(&t.mutex, 0) != 0) {
		haul_mutex_lock(&t.mutex);
		note((char)('A' + number));
	}
	haul_yield();
	note((char)('A' + number));
	haul_mutex_unlock(&t.mutex);
}

static bool is_as_new(void)
{
	const struct haul_coro *me = haul_carrier_self()->current;

	return !hauli_coro_is_cancelled(me) && !me->pinned && !hauli_permit_is_given(&me->permit) &&
		strcmp(haul_coro_name(me), "object") == 0;
}

static void do_it(char what, unsigned number)
{
	struct haul_coro *child;

	switch (what) {
	case 'y':
		haul_yield();
		note((char)('A' + number));
		break;
	case 'w':
		haul_unpark(t.helpers[0]);
		break;
	case 'g':
		haul_unpark(t.helpers[3]);
		break;
	case 'q':
		haul_sem_post(&t.sem);
		break;
	case 'e':
		haul_event_set(&t.event);
		break;
	case 'm':
		locks(number);
		break;
	case 'k':
		opens_scope();
		note((char)('A' + number));
		break;
	case 'a': /* one before it that has parked */
		if (t.nb_parked > 0)
			haul_unpark(t.parked[--t.nb_parked]);
		break;
	case 'x':
		if (t.nb_parked > 0)
			haul_cancel(t.parked[--t.nb_parked]);
		break;
	case 'b': /* until a dump has seen it */
		t.computes = true;
		while (!t.is_seen)
			;
		break;
	case 'n': /* it begins as the others do, but on a stack of its own */
		haul_spawn(NULL, is_child, NULL,
			&(struct haul_coro_opts){.pinned = true, .stack_size = 50 << 10});
		break;
	case 's':
		haul_spawn(NULL, is_child, NULL, NULL);
		break;
	case 'j':
		haul_spawn(&child, is_child, NULL, NULL);
		haul_join(child, NULL, HAUL_FOREVER);
		note((char)('A' + number));
		break;
	case 'p':
		t.parked[t.nb_parked++] = haul_self();
		haul_park(HAUL_FOREVER);
		note((char)('A' + number));
		break;
	case 'c':
		haul_cancel(haul_self());
		break;
	case 'u':
		haul_unpark(haul_self());
		break;
	case 'h':
		t.wrong += !haul_self();
		break;
	case 'i':
		haul_pin();
		break;
	default: /* nothing */
		break;
	}
}

static void handle(struct object *o)
{
	note((char)('a' + o->number));
	t.wrong += o->number != t.begun++ || !is_as_new();
	do_it(o->does, o->number);
	t.ended++;
}

static void *runs(void *record)
{
	handle(HAULI_CONTAINER(record, struct object, record));
	return NULL;
}

static inline void run(const struct hauli_prototype *p, struct hauli_record *record)
{
	t.wrong += record->prototype != p;
	runs(record);
}

static inline void run_object(const struct hauli_prototype *p, void *obj)
{
	handle(obj);
}

static inline void has_run(const struct hauli_prototype *p, bool remote)
{
	t.has_run++;
}

static HAULI_AT_ONCE struct hauli_record *at_once(struct haul_carrier *c, struct haul_coro *me)
{
	return hauli_record_at_once(c, me, run_object, has_run);
}

static void enter(void *pass)
{
	hauli_record_body(pass, (struct hauli_body){run, has_run, at_once, false});
}

static uint8_t no_key(const void *arg)
{
	return 0;
}

static void drop(struct hauli_record *record)
{
	t.wrong++;
}

static void begin(struct haul_carrier *c)
{
	const struct haul_coro_opts opts = {.name = "object"};

	hauli_glue_poller_begins(c, NULL, no_key);
	ASSERT_EACH(hauli_glue_prototype_init(&t.prototype, c, runs, drop, &opts) == 0);
	hauli_glue_set_entry(&t.prototype, enter);
	c->run.round_ticks = UINT64_MAX; /* only the budget ends a round */
}

static void push(struct haul_carrier *c, unsigned from, unsigned n, bool at_once)
{
	static void *all[MOST];

	for (unsigned i = 0; i < MOST; i++)
		all[i] = &objects[i];
	if (!at_once)
		hauli_glue_spawn_records(
			c, &t.prototype, all + from, offsetof(struct object, record), n);
	else if (hauli_glue_records_are_next(c, &t.prototype))
		t.has_run += hauli_glue_run_records(
			c, &t.prototype, all + from, offsetof(struct object, record), n);
	else
		t.wrong++;
}

static void reset(unsigned n)
{
	t.n = n;
	t.begun = t.ended = t.has_run = t.nb_parked = t.len = 0;
	memset(t.trace, 0, sizeof(t.trace));
}

/* Rounds, until all have ended; those that park are woken when they are the last. */
static void run_all(struct haul_carrier *c)
{
	while (t.ended < t.n || !hauli_runq_is_empty(&c->runq)) {
		c->run.lately.budget = HAULI_BUDGET_MAX;
		hauli_glue_go_on(c, true);
		if (!hauli_runq_is_empty(&c->runq) || t.ended + t.nb_parked < t.n)
			continue;
		while (t.nb_parked > 0)
			haul_unpark(t.parked[--t.nb_parked]);
	}
}

/* How the objects of a program arrive. */
enum arrival {
	AT_ONCE,
	TWO_BURSTS, /* the second one after the round of the first one */
	NEXT_SLICE, /* the second one before the slice that follows the first one */
};

/* Runs the program's objects: the first k at first, with a budget for these. */
static void run_program(
	struct haul_carrier *c, const char *program, enum arrival how, unsigned k, unsigned phase)
{
	unsigned n = (unsigned)strlen(program);
	uint64_t slices = hauli_counter_read(&c->counts.slices);

	reset(n);
	for (unsigned i = 0; i < n; i++)
		objects[i] = (struct object){.number = i, .does = program[i]};
	c->runq.lifo_left = phase;
	c->runq.lifo_at = hauli_ring_head(&c->runq.ring) + HAULI_RING_FAR;
	c->run.lately.budget = k;
	if (how == AT_ONCE) {
		push(c, 0, n, true);
	} else {
		t.late = how == NEXT_SLICE && k < n ? k : 0;
		push(c, 0, k, false);
		hauli_glue_go_on(c, true);
		if (how == TWO_BURSTS || t.late > 0)
			push(c, k, n - k, false);
		t.late = 0;
	}
	run_all(c);
	t.wrong += t.has_run != n || hauli_counter_read(&c->counts.slices) - slices != t.len;
}

/* True if the order comes of the run queue, too; else prints those that do. */
static bool comes_of_the_queue(struct haul_carrier *c, const char *program, const char *seen)
{
	bool found = false;

	for (int print = 0; print < 2 && !found; print++) {
		for (unsigned k = (unsigned)strlen(program); k > 0 && !found; k--)
			for (unsigned i = 0; i < 2 * PHASES && !found; i++) {
				run_program(c, program, i % 2 ? NEXT_SLICE : TWO_BURSTS, k, i / 2);
				found = strcmp(t.trace, seen) == 0;
				if (print)
					fprintf(stderr, "# %s, at once %s, queued %s\n", program,
						seen, t.trace);
			}
	}
	return found;
}

static void try_program(struct haul_carrier *c, const char *program)
{
	for (unsigned phase = 0; phase < PHASES; phase++) {
		char seen[TRACE];

		run_program(c, "-", TWO_BURSTS, 1, 0); /* leaves a spare coroutine */
		run_program(c, program, AT_ONCE, HAULI_BUDGET_MAX, phase);
		memcpy(seen, t.trace, TRACE);
		t.wrong += !comes_of_the_queue(c, program, seen);
	}
}

#define DOES "-ywsjpcui"
#define ALSO "qemkaxng"
#define STEP (HAULI_TSAN ? 101 : 1) /* of the programs: each new stack takes TSan 100 us */

static void *tries_all(void *arg)
{
	struct haul_carrier *c = haul_carrier_self();
	static haul_fn *const helpers[HELPERS] = {helps, takes, awaits, helps_for_long};
	const unsigned kinds = sizeof(DOES) - 1, all = sizeof(DOES ALSO) - 1;

	begin(c);
	for (unsigned i = 0; i < HELPERS; i++)
		haul_spawn(&t.helpers[i], helpers[i], NULL, NULL);
	while (!hauli_runq_is_empty(&c->runq))
		hauli_glue_go_on(c, true);
	for (unsigned i = 0; i < kinds * kinds * kinds; i += STEP) {
		const char program[] = {
			DOES[i % kinds], DOES[i / kinds % kinds], DOES[i / kinds / kinds], '\0'};

		try_program(c, program);
	}
	for (unsigned i = 0; i < all * all; i += STEP) {
		const char program[] = {(DOES ALSO)[i % all], (DOES ALSO)[i / all], '\0'};

		try_program(c, program);
	}
	for (unsigned i = 0; i < 4000; i += STEP) {
		char program[8] = "";

		for (unsigned k = 0; k < 4 + i % 4; k++)
			program[k] = (DOES ALSO)[(unsigned)rand() % all];
		try_program(c, program);
	}
	for (unsigned i = 0; i < HELPERS; i++)
		haul_cancel(t.helpers[i]);
	while (hauli_glue_go_on(c, !t.done))
		t.done = true;
	return NULL;
}

static struct haul_coro *start_poller(haul_fn *poller)
{
	struct haul_coro *co;

	memset(&t, 0, sizeof(t));
	t.rt = runtime_start_stealing(1, NULL, HAUL_STEAL_OFF);
	ck_assert_int_eq(haul_poller_register(haul_carrier(t.rt, 0), &co, poller, NULL, NULL), 0);
	return co;
}

static void stop_poller(struct haul_coro *co)
{
	WAIT_UNTIL(t.done);
	haul_cancel(co);
	haul_join(co, NULL, HAUL_FOREVER);
	for (unsigned i = 0; i < HELPERS; i++)
		if (t.helpers[i])
			haul_join(t.helpers[i], NULL, HAUL_FOREVER);
	runtime_stop(t.rt);
	ck_assert_uint_eq(t.wrong, 0);
}

static void run_poller(haul_fn *poller)
{
	stop_poller(start_poller(poller));
}

START_TEST(each_order_comes_of_the_run_queue_too)
{
	run_poller(tries_all);
}
END_TEST

static void fill(unsigned n, char does)
{
	for (unsigned i = 0; i < n; i++)
		objects[i] = (struct object){.number = i, .does = does};
}

/* How a poller ends that has tried what it is to try. */
static void *goes_on_until_stop(struct haul_carrier *c)
{
	t.done = true;
	while (hauli_glue_go_on(c, true))
		;
	return NULL;
}

static void *runs_many(void *arg)
{
	static const struct {
		unsigned n, budget, at_once;
	} cases[] = {{10, 255, 10}, {32, 255, 32}, {33, 255, 33}, {32, 255, 32}, {200, 255, 200},
		{200, 64, 64}, {10, 3, 3}, {1, 1, 1}};
	struct haul_carrier *c = haul_carrier_self();

	begin(c);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		run_program(c, "-", TWO_BURSTS, 1, 0);
		reset(cases[i].n);
		fill(t.n, i % 2 ? 'h' : '-'); /* a look at itself ends nothing */
		/* Long slices and short ones do not change it meanwhile. */
		c->run.lately = (struct hauli_slices){.average = 1, .budget = cases[i].budget};
		c->run.poll_ticks = UINT64_MAX;
		push(c, 0, t.n, true);
		t.wrong += t.begun < cases[i].at_once;
		t.wrong += cases[i].budget < 128 && t.begun > 2 * cases[i].at_once;
		run_all(c);
		t.wrong += t.has_run != t.n;
	}
	return goes_on_until_stop(c);
}

START_TEST(as_many_as_a_round_would_run)
{
	run_poller(runs_many);
}
END_TEST

extern const char begin_at_once[] __asm__("__start_haul_at_once");
extern const char end_at_once[] __asm__("__stop_haul_at_once");

static bool not_own(const void *pc)
{
	return false;
}

/* The outermost frame of a call stack is the object's function. */
static bool is_trimmed(const struct haul_coro *co)
{
	void *all[16], *const *pcs = all;
	unsigned n = hauli_trace(&co->co.ctx, all, 16);
	const char *outermost;

	hauli_trace_trim(&pcs, &n, 1, not_own);
	outermost = pcs[n - 1];
	return outermost < begin_at_once || outermost >= end_at_once;
}

/* The first object of the first five waits while the next five run. */
static void *parks_over_a_chunk(void *arg)
{
	struct haul_carrier *c = haul_carrier_self();

	begin(c);
	run_program(c, "-", TWO_BURSTS, 1, 0);
	reset(10);
	fill(t.n, '-');
	objects[0].does = 'p';
	push(c, 0, 5, true);
	while (t.ended < 4)
		hauli_glue_go_on(c, true);
	t.wrong += !is_trimmed(t.parked[0]);
	c->run.lately.budget = HAULI_BUDGET_MAX;
	push(c, 5, 5, true);
	t.wrong += t.begun != 10 || t.ended != 9;
	run_all(c);
	t.wrong += t.begun != 10 || t.has_run != 10;
	return goes_on_until_stop(c);
}

START_TEST(one_that_waits_runs_its_own_objects_only)
{
	run_poller(parks_over_a_chunk);
}
END_TEST

/* The seventh of ten computes. */
static void *computes_in_a_burst(void *arg)
{
	struct haul_carrier *c = haul_carrier_self();

	begin(c);
	run_program(c, "-", TWO_BURSTS, 1, 0);
	reset(10);
	fill(t.n, '-');
	objects[6].does = 'b';
	c->run.lately.budget = HAULI_BUDGET_MAX;
	push(c, 0, t.n, true);
	run_all(c);
	return goes_on_until_stop(c);
}

START_TEST(a_dump_counts_those_that_have_not_begun)
{
	struct haul_coro *poller = start_poller(computes_in_a_burst);
	char *said = NULL;
	size_t len;
	FILE *out = open_memstream(&said, &len);

	WAIT_UNTIL(t.computes);
	haul_dump(t.rt, out);
	fclose(out);
	t.is_seen = true;
	stop_poller(poller);
	ck_assert_msg(strstr(said, "  carrier 0: 3 more, ready, not begun\n") != NULL, "%s", said);
	free(said);
}
END_TEST

/* Others are ready, there is no spare, or the runtime stops: not at once. */
static void *is_refused(void *arg)
{
	struct haul_carrier *c = haul_carrier_self();

	begin(c);
	t.wrong += hauli_glue_records_are_next(c, &t.prototype); /* no spare */
	run_program(c, "-", TWO_BURSTS, 1, 0);
	t.wrong += !hauli_glue_records_are_next(c, &t.prototype);
	haul_spawn(NULL, is_child, NULL, NULL);
	t.wrong += hauli_glue_records_are_next(c, &t.prototype);
	hauli_glue_go_on(c, true);
	t.wrong += !hauli_glue_records_are_next(c, &t.prototype);
	c->mail.inbox.sleeps = true; /* the poller is parked */
	t.wrong += hauli_glue_records_are_next(c, &t.prototype);
	c->mail.inbox.sleeps = false;
	hauli_glue_cancel_records(c);
	t.wrong += hauli_glue_records_are_next(c, &t.prototype);
	hauli_glue_poller_begins(c, NULL, no_key);
	t.wrong += !hauli_glue_records_are_next(c, &t.prototype);
	return goes_on_until_stop(c);
}

START_TEST(only_if_they_are_next)
{
	run_poller(is_refused);
}
END_TEST

SUITE_MAIN("at_once", {each_order_comes_of_the_run_queue_too}, {as_many_as_a_round_would_run},
	{one_that_waits_runs_its_own_objects_only}, {a_dump_counts_those_that_have_not_begun},
	{only_if_they_are_next})
