/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random programs of coroutines that hibernate: what they have on their stacks stays, whatever they
 * and others do. Each actor draws operations from its seed, at a random depth of calls, with
 * buffers around each wait that it fills before and checks after. HAUL_SEED replays one program.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "base/random.h"
#include "sched/state/coroutine.h"
#include "support/runtime.h"
#include "support/suite.h"

#define ACTORS 40
#define OPS 60
#define PROGRAMS 12

struct world {
	struct haul_runtime *rt;
	struct haul_coro *_Atomic parked[ACTORS]; /* never joined, so valid to the end */
	struct haul_mutex mutex;
	struct haul_chan *chan;
	atomic_uint ended, wrong;
};

struct actor {
	struct world *w;
	unsigned i;
	struct hauli_random random;
};

static uint64_t draw(struct actor *a, uint64_t n)
{
	return hauli_random_next(&a->random) % n;
}

static uint64_t draw_ns(struct actor *a)
{
	/* about half of them are shorter than it takes to freeze */
	return draw(a, 8) == 0 ? 20 * HAUL_MS : draw(a, 4 * HAUL_MS);
}

static uint64_t draw_deadline(struct actor *a)
{
	return draw(a, 2) ? HAUL_FOREVER : haul_in(draw_ns(a));
}

static void parks(struct actor *a)
{
	(void)haul_park(haul_in(draw_ns(a)));
}

static void sleeps(struct actor *a)
{
	(void)haul_sleep(draw_ns(a)); /* the thing under test */
}

static void yields(struct actor *a)
{
	haul_yield();
}

static void wakes(struct actor *a)
{
	unsigned i = (unsigned)draw(a, ACTORS);
	struct haul_coro *co = atomic_load(&a->w->parked[i]);

	if (co)
		haul_unpark(co);
}

static void locks(struct actor *a)
{
	if (haul_mutex_lock_by(&a->w->mutex, draw_deadline(a)))
		return;
	if (draw(a, 4) == 0)
		(void)haul_sleep(draw(a, 1000000)); /* ns */
	haul_mutex_unlock(&a->w->mutex);
}

static void sends(struct actor *a)
{
	uint64_t value = UINT64_C(0x1234567800000000) | a->i;

	(void)haul_chan_send(a->w->chan, &value, haul_in(draw_ns(a)));
}

static void receives(struct actor *a)
{
	uint64_t value = 0;

	if (haul_chan_recv(a->w->chan, &value, haul_in(draw_ns(a))) == 0 &&
		value >> 32 != 0x12345678)
		atomic_fetch_add(&a->w->wrong, 1);
}

static void selects(struct actor *a)
{
	uint64_t in = 0, out = UINT64_C(0x1234567800000000);
	struct haul_case cases[] = {
		haul_case_recv(a->w->chan, &in), haul_case_send(a->w->chan, &out)};

	if (haul_select(cases, 2, haul_in(draw_ns(a))) == 0 && cases[0].err == 0 &&
		in >> 32 != 0x12345678)
		atomic_fetch_add(&a->w->wrong, 1);
}

static void pins(struct actor *a)
{
	haul_pin();
	(void)haul_sleep(draw_ns(a)); /* the thing under test */
	haul_unpin();
}

static void *child(void *arg)
{
	(void)haul_sleep((uintptr_t)arg);
	return arg;
}

static int scoped(void *arg)
{
	return haul_sleep((uintptr_t)arg) ? -EIO : 0;
}

static void draw_opts(struct actor *a, struct haul_coro_opts *opts)
{
	*opts = (struct haul_coro_opts){.hibernates = draw(a, 4) > 0,
		.pinned = draw(a, 4) == 0,
		.order_key = (uint8_t)draw(a, 3),
		.stack_size = draw(a, 2) ? 0 : 100 << 10};
}

static void joins(struct actor *a)
{
	void *ns = (void *)(uintptr_t)draw_ns(a), *result = NULL;
	struct haul_carrier *c = haul_carrier(a->w->rt, (unsigned)draw(a, haul_carriers(a->w->rt)));
	struct haul_coro_opts opts;
	struct haul_coro *co;

	draw_opts(a, &opts);
	if (haul_spawn_on(c, &co, child, ns, &opts))
		return;
	if (draw(a, 4) == 0)
		haul_cancel(co);
	if (haul_join(co, &result, draw_deadline(a)))
		haul_detach(co);
	else if (result != ns)
		atomic_fetch_add(&a->w->wrong, 1);
}

static void scopes(struct actor *a)
{
	HAUL_SCOPE(scope, draw_deadline(a), HAUL_SCOPE_FAIL_FAST);
	struct haul_coro_opts opts;

	for (unsigned n = (unsigned)draw(a, 4); n > 0; n--) {
		draw_opts(a, &opts);
		haul_scope_spawn(&scope, scoped, (void *)(uintptr_t)draw_ns(a), &opts);
	}
	(void)haul_park(haul_in(draw_ns(a)));
}

static void shields(struct actor *a)
{
	HAUL_SHIELD(haul_in(20 * HAUL_MS));

	(void)haul_sleep(draw_ns(a)); /* the thing under test */
}

static void (*const ops[])(struct actor *a) = {
	parks,
	parks,
	parks,
	sleeps,
	sleeps,
	sleeps,
	yields,
	wakes,
	wakes,
	wakes,
	locks,
	sends,
	receives,
	selects,
	pins,
	joins,
	scopes,
	shields,
};

#define NB_OPS (sizeof(ops) / sizeof(ops[0]))

/* A buffer of its own in each call. */
static void at_depth(struct actor *a, unsigned depth);

static inline __attribute__((always_inline)) void with_buffer(
	struct actor *a, unsigned depth, uint64_t *buffer, uint64_t n)
{
	const uint64_t seed = draw(a, 1 << 20) * 2 + 1;

	for (uint64_t i = 0; i < n; i++)
		buffer[i] = i % 3 ? seed * i : 0;
	__asm__ volatile("" : "+r"(buffer) : : "memory");
	if (depth > 0)
		at_depth(a, depth - 1);
	else
		ops[draw(a, NB_OPS)](a);
	for (uint64_t i = 0; i < n; i++)
		if (buffer[i] != (i % 3 ? seed * i : 0))
			atomic_fetch_add(&a->w->wrong, 1);
}

static __attribute__((noinline)) void with_little(struct actor *a, unsigned depth)
{
	uint64_t buffer[8];

	with_buffer(a, depth, buffer, 8);
}

static __attribute__((noinline)) void with_much(struct actor *a, unsigned depth)
{
	uint64_t buffer[100];

	with_buffer(a, depth, buffer, 100);
}

/* Of several pages: too much to freeze, and pages below frames that freeze later. */
static __attribute__((noinline)) void with_pages(struct actor *a, unsigned depth)
{
	uint64_t buffer[1200];

	with_buffer(a, depth, buffer, 1200);
}

static void at_depth(struct actor *a, unsigned depth)
{
	unsigned how = (unsigned)draw(a, 16);

	if (how == 0)
		with_pages(a, depth);
	else if (how < 4)
		with_much(a, depth);
	else
		with_little(a, depth);
}

static void *act(void *arg)
{
	struct actor *a = arg;

	atomic_store(&a->w->parked[a->i], haul_self());
	for (unsigned n = 0; n < OPS && !haul_cancelled(); n++)
		at_depth(a, (unsigned)draw(a, 4));
	atomic_fetch_add(&a->w->ended, 1);
	while (haul_park(HAUL_FOREVER) == 0) /* others may wake it, until they have ended */
		;
	return NULL;
}

static struct haul_runtime *start(struct hauli_random *random, struct world *w)
{
	struct haul_runtime_opts opts = {.hibernate_after_ns = HAUL_MS,
		.watchdog_ns = HAUL_FOREVER,
		.virtual_time = hauli_random_next(random) % 4 == 0};
	struct haul_plan_opts plan_opts = {.carriers = 1 + hauli_random_next(random) % 3};
	struct haul_plan *plan = NULL;
	char why[256] = "";

	if (HAUL_STEALING && !opts.virtual_time && hauli_random_next(random) % 2)
		opts.steal = HAUL_STEAL_GLOBAL;
	ck_assert_msg(haul_plan_create(&plan, &plan_opts, why, sizeof(why)) == 0, "%s", why);
	opts.plan = plan;
	ck_assert_msg(haul_start(&w->rt, &opts, why, sizeof(why)) == 0, "%s", why);
	haul_plan_destroy(plan);
	return w->rt;
}

static void dump(struct haul_runtime *rt)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	haul_dump(rt, out);
	fclose(out);
	free(text);
}

/* The number of coroutines that hibernate now; thaws: all so far. */
static uint64_t count(struct haul_runtime *rt, uint64_t *thaws)
{
	uint64_t hibernations = 0;
	struct haul_carrier_stats st;

	*thaws = 0;
	for (unsigned i = 0; i < haul_carriers(rt); i++) {
		haul_carrier_get_stats(haul_carrier(rt, i), &st);
		hibernations += st.hibernations;
		*thaws += st.thaws;
	}
	return hibernations - *thaws;
}

static void run(uint64_t seed)
{
	struct hauli_random random;
	struct actor actors[ACTORS];
	struct world w = {.ended = 0};
	struct haul_runtime *rt;
	uint64_t thaws = 0;
	unsigned park = 0; /* for ever, and may hibernate */
	bool early;

	hauli_random_init(&random, seed);
	rt = start(&random, &w);
	early = hauli_random_next(&random) % 3 == 0;

	ck_assert_int_eq(haul_chan_create(&w.chan, sizeof(uint64_t), 2), 0);
	for (unsigned i = 0; i < ACTORS; i++) {
		struct haul_coro_opts opts;
		struct haul_coro *co;

		actors[i] = (struct actor){.w = &w, .i = i};
		hauli_random_init(&actors[i].random, hauli_random_next(&random));
		draw_opts(&actors[i], &opts);
		opts.stack_size = 100 << 10;
		park += opts.hibernates;
		ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, i % haul_carriers(rt)), &co, act,
					 &actors[i], &opts),
			0);
	}
	if (early)
		usleep((unsigned)(hauli_random_next(&random) % 50000)); /* at any time */
	while (!early && atomic_load(&w.ended) < ACTORS) {
#if !HAULI_TSAN
		dump(rt);
#endif
		usleep(10000); /* between two looks */
	}
	/* Nobody is forgotten. */
	while (count(rt, &thaws) != park && !early)
		usleep(1000); /* between two looks */
	runtime_stop(rt);
	haul_chan_destroy(w.chan);
	ck_assert_msg(atomic_load(&w.wrong) == 0, "HAUL_SEED=%llu", (unsigned long long)seed);
	ck_assert_msg(
		early || thaws > 0, "none hibernates: HAUL_SEED=%llu", (unsigned long long)seed);
}

START_TEST(stacks_stay_as_they_are)
{
	const char *one = getenv("HAUL_SEED");
	uint64_t seed = one ? strtoull(one, NULL, 0) : (uint64_t)getpid() * 1000;

	if (one)
		run(seed);
	for (unsigned i = 0; !one && i < PROGRAMS; i++)
		run(seed + i);
}
END_TEST

SUITE_MAIN("hibernate_random", {stacks_stay_as_they_are, 1})
