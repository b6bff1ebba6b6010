/* SPDX-License-Identifier: BSD-3-Clause */
/* The homes of coroutines spawned by a plain thread: by load, round robin, near, or a batch for a
 * cluster. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include <haul/driver.h>

#include "support/evpoller.h"
#include "support/runtime.h"
#include "support/suite.h"

#define CARRIERS 4
#define MANY 1000
#define TWO_CLUSTERS "package:2 l3:1 core:2 pu:1"

static struct haul_runtime *start(const char *machine)
{
	return runtime_start_stealing(CARRIERS, machine, runtime_steal_setting());
}

static unsigned cluster_of(const struct haul_carrier *c)
{
	return haul_carrier_place(c)->cluster;
}

/* The number of coroutines at home on each carrier, as they return it. */
static void *home(void *arg)
{
	return haul_coro_home(haul_self());
}

static void count_homes(struct haul_coro **cos, unsigned n, unsigned *seen)
{
	memset(seen, 0, CARRIERS * sizeof(seen[0]));
	for (unsigned i = 0; i < n; i++) {
		void *where;

		ck_assert_int_eq(haul_join(cos[i], &where, HAUL_FOREVER), 0);
		seen[haul_carrier_id(where)]++;
	}
}

/* Occupies its carrier until it is released. */
struct hogs {
	struct haul_coro *cos[CARRIERS];
	atomic_uint hogging;
	atomic_bool let_go;
};

static void *hog(void *arg)
{
	struct hogs *h = arg;

	h->hogging++;
	while (!h->let_go)
		sched_yield();
	return NULL;
}

static void hog_carriers(struct hogs *h, struct haul_runtime *rt, unsigned first, unsigned n)
{
	struct haul_coro_opts opts = {.pinned = true};

	*h = (struct hogs){0};
	for (unsigned i = first; i < first + n; i++)
		ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, i), &h->cos[i], hog, h, &opts), 0);
	WAIT_UNTIL(h->hogging == n);
}

static void let_go(struct hogs *h)
{
	h->let_go = true;
	for (unsigned i = 0; i < CARRIERS; i++)
		if (h->cos[i])
			haul_join(h->cos[i], NULL, HAUL_FOREVER);
}

/*
 * Idle carriers with a CPU take their coroutines at once, so only carriers without a CPU show load.
 * The others then get more, but at most the share that two choices of four allow: half.
 */
START_TEST(idle_carriers_get_about_equally_many)
{
	struct haul_runtime *rt = start(NULL);
	struct haul_coro *cos[MANY];
	unsigned seen[CARRIERS];

	for (unsigned i = 0; i < MANY; i++)
		ck_assert_int_eq(haul_spawn_any(rt, &cos[i], home, NULL, NULL), 0);
	count_homes(cos, MANY, seen);
	for (unsigned i = 0; i < CARRIERS; i++) {
		ck_assert_uint_le(seen[i], 2 * MANY / CARRIERS + MANY / 20);
		ck_assert_uint_gt(seen[i], 0);
	}
	runtime_stop(rt);
}
END_TEST

/* The ring does not show coroutines that were sent, but they count. */
START_TEST(busy_carriers_get_equally_many)
{
	struct haul_runtime *rt = start(NULL);
	struct haul_coro *cos[MANY];
	unsigned seen[CARRIERS];
	struct hogs hogs;

	hog_carriers(&hogs, rt, 0, CARRIERS);
	for (unsigned i = 0; i < MANY; i++)
		ck_assert_int_eq(haul_spawn_any(rt, &cos[i], home, NULL, NULL), 0);
	let_go(&hogs);
	count_homes(cos, MANY, seen);
	for (unsigned i = 0; i < CARRIERS; i++)
		ck_assert_uint_eq(seen[i], MANY / CARRIERS);
	runtime_stop(rt);
}
END_TEST

struct spawner {
	struct haul_runtime *rt;
	pthread_t thread;
	struct haul_coro *cos[MANY];
};

static void *spawn_from_a_thread(void *arg)
{
	struct spawner *s = arg;

	for (unsigned i = 0; i < MANY; i++)
		if (haul_spawn_any(s->rt, &s->cos[i], home, NULL, NULL) != 0)
			return "spawn";
	return NULL;
}

/* Several threads that read the same loads do not all choose the same carrier. */
START_TEST(four_threads_spread_evenly)
{
	static struct spawner spawners[4];
	struct haul_runtime *rt = start(NULL);
	unsigned seen[CARRIERS], all[CARRIERS] = {0};
	struct hogs hogs;

	hog_carriers(&hogs, rt, 0, CARRIERS);
	for (unsigned i = 0; i < 4; i++) {
		spawners[i].rt = rt;
		pthread_create(&spawners[i].thread, NULL, spawn_from_a_thread, &spawners[i]);
	}
	for (unsigned i = 0; i < 4; i++)
		pthread_join(spawners[i].thread, NULL);
	let_go(&hogs);
	for (unsigned i = 0; i < 4; i++) {
		count_homes(spawners[i].cos, MANY, seen);
		for (unsigned k = 0; k < CARRIERS; k++)
			all[k] += seen[k];
	}
	for (unsigned k = 0; k < CARRIERS; k++) {
		ck_assert_uint_le(all[k], 2 * 4 * MANY / CARRIERS);
		ck_assert_uint_ge(all[k], 4 * MANY / CARRIERS / 2);
	}
	runtime_stop(rt);
}
END_TEST

START_TEST(loaded_carrier_is_spared)
{
	struct haul_runtime *rt = start(NULL);
	struct haul_coro *before[MANY], *cos[MANY / 2];
	unsigned seen[CARRIERS];
	struct hogs hogs;

	hog_carriers(&hogs, rt, 0, CARRIERS);
	for (unsigned i = 0; i < MANY; i++)
		ck_assert_int_eq(
			haul_spawn_on(haul_carrier(rt, 2), &before[i], home, NULL, NULL), 0);
	for (unsigned i = 0; i < MANY / 2; i++)
		ck_assert_int_eq(haul_spawn_any(rt, &cos[i], home, NULL, NULL), 0);
	let_go(&hogs);
	count_homes(cos, MANY / 2, seen);
	ck_assert_uint_eq(seen[2], 0);
	count_homes(before, MANY, seen);
	ck_assert_uint_eq(seen[2], MANY);
	runtime_stop(rt);
}
END_TEST

START_TEST(round_robin_reaches_each_carrier)
{
	struct haul_runtime *rt = start(TWO_CLUSTERS);
	struct haul_coro_opts opts = {.round_robin = true};
	struct haul_coro *cos[4 * CARRIERS];
	unsigned seen[CARRIERS];

	for (unsigned i = 0; i < 4 * CARRIERS; i++)
		ck_assert_int_eq(haul_spawn_any(rt, &cos[i], home, NULL, &opts), 0);
	count_homes(cos, 4 * CARRIERS, seen);
	for (unsigned i = 0; i < CARRIERS; i++)
		ck_assert_uint_eq(seen[i], 4);
	opts.near = haul_carrier(rt, 3);
	for (unsigned i = 0; i < 4 * CARRIERS; i++)
		ck_assert_int_eq(haul_spawn_any(rt, &cos[i], home, NULL, &opts), 0);
	count_homes(cos, 4 * CARRIERS, seen);
	for (unsigned i = 0; i < CARRIERS; i++)
		ck_assert_uint_eq(seen[i], cluster_of(haul_carrier(rt, i)) == 1 ? 8 : 0);
	runtime_stop(rt);
}
END_TEST

START_TEST(near_means_its_cluster)
{
	struct haul_runtime *rt = start(TWO_CLUSTERS);

	for (unsigned c = 0; c < CARRIERS; c++) {
		struct haul_coro_opts opts = {.near = haul_carrier(rt, c)};
		struct haul_coro *cos[2 * MANY];
		unsigned seen[CARRIERS];

		for (unsigned i = 0; i < MANY; i++)
			ck_assert_int_eq(haul_spawn_any(rt, &cos[i], home, NULL, &opts), 0);
		ck_assert_int_eq(haul_spawn_many(rt, cos + MANY, home, NULL, MANY, &opts), 0);
		count_homes(cos, 2 * MANY, seen);
		for (unsigned i = 0; i < CARRIERS; i++)
			if (cluster_of(haul_carrier(rt, i)) != cluster_of(opts.near))
				ck_assert_uint_eq(seen[i], 0);
	}
	runtime_stop(rt);
}
END_TEST

START_TEST(no_carrier_is_near_a_missing_nic)
{
	struct haul_runtime *rt = start(NULL);

	ck_assert_ptr_null(haul_carrier_near(rt, "no-such-nic"));
	ck_assert_ptr_null(haul_carrier_near(rt, "ffff:ff:1f.7"));
	ck_assert_ptr_null(haul_carrier_near(rt, "lo")); /* not on a device */
	runtime_stop(rt);
}
END_TEST

static void *add_one(void *arg)
{
	atomic_uint *n = arg;

	(*n)++;
	return n;
}

START_TEST(many_each_run_once)
{
	struct haul_runtime *rt = start(NULL);
	static const unsigned sizes[] = {1, 2, 3, 63, 64, 65, MANY};
	static atomic_uint runs[MANY];

	for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
		unsigned n = sizes[k];
		struct haul_coro *cos[MANY];
		void *args[MANY], *result;

		for (unsigned i = 0; i < n; i++)
			args[i] = &runs[i];
		ck_assert_int_eq(haul_spawn_many(rt, cos, add_one, args, n, NULL), 0);
		memset(args, 0, sizeof(args)); /* no longer read */
		for (unsigned i = 0; i < n; i++) {
			haul_join(cos[i], &result, HAUL_FOREVER);
			ck_assert_ptr_eq(result, &runs[i]);
			ck_assert_uint_eq(runs[i], 1);
			runs[i] = 0;
		}
	}
	runtime_stop(rt);
}
END_TEST

static void *spawn_many_here(void *arg)
{
	struct haul_coro *cos[MANY];
	struct haul_carrier *me = haul_coro_home(haul_self());

	if (haul_spawn_many(arg, cos, home, NULL, MANY, NULL) != 0)
		return "spawn";
	for (unsigned i = 0; i < MANY; i++) {
		void *where;

		haul_join(cos[i], &where, HAUL_FOREVER);
		if (where != me)
			return "left home";
	}
	return NULL;
}

START_TEST(many_on_a_carrier_stay_there)
{
	struct haul_runtime *rt = start(NULL);

	for (unsigned i = 0; i < CARRIERS; i++)
		ck_assert_pstr_eq(run_on(rt, i, spawn_many_here, rt), NULL);
	runtime_stop(rt);
}
END_TEST

struct meeting {
	atomic_uint there;
	unsigned expected;
};

/* Keeps its carrier until that number has arrived: each needs a carrier of its own. */
static void *meet(void *arg)
{
	struct meeting *m = arg;

	m->there++;
	while (m->there < m->expected)
		sched_yield();
	return NULL;
}

static void *spin(void *arg)
{
	bool *io = arg;

	while (haul_maybe_yield(*io))
		sched_yield(); /* as more than one of them is on a CPU */
	return NULL;
}

enum kind { WITHOUT_POLLER, SPINNING, SPINNING_WITH_INPUT, BLOCKED, KINDS };

static void add_pollers(struct haul_runtime *rt, enum kind kind, struct evpoller *p)
{
	static bool input[] = {[SPINNING] = false, [SPINNING_WITH_INPUT] = true};

	for (unsigned i = 0; i < CARRIERS; i++) {
		struct haul_carrier *c = haul_carrier(rt, i);

		evpoller_open(&p[i]);
		if (kind == BLOCKED)
			ck_assert_int_eq(evpoller_register(c, &p[i], NULL), 0);
		else if (kind != WITHOUT_POLLER)
			ck_assert_int_eq(
				haul_poller_register(c, NULL, spin, &input[kind], NULL), 0);
	}
}

/* Each kind of idle carrier takes part, by a wake-up or by a check, and leaves enough for the
 * others. */
START_TEST(all_idle_carriers_share_the_batch)
{
	struct haul_runtime *rt = start(NULL);
	struct evpoller pollers[CARRIERS] = {0};

	add_pollers(rt, (enum kind)_i, pollers);
	for (unsigned n = CARRIERS; n <= 4 * CARRIERS; n += CARRIERS) {
		struct meeting m = {.expected = CARRIERS};
		struct haul_coro_opts opts = {.pinned = true};
		struct haul_coro *cos[4 * CARRIERS];
		void *args[4 * CARRIERS];

		for (unsigned i = 0; i < n; i++)
			args[i] = &m;
		if (_i == BLOCKED)
			for (unsigned i = 0; i < CARRIERS; i++)
				WAIT_UNTIL(pollers[i].blocked);
		ck_assert_int_eq(haul_spawn_many(rt, cos, meet, args, n, &opts), 0);
		for (unsigned i = 0; i < n; i++)
			haul_join(cos[i], NULL, HAUL_FOREVER);
		ck_assert_uint_eq(m.there, n);
	}
	runtime_stop(rt);
	for (unsigned i = 0; i < CARRIERS; i++)
		evpoller_close(&pollers[i]);
}
END_TEST

static void *yields(void *arg)
{
	atomic_bool *end = arg;

	while (!*end)
		haul_yield();
	return NULL;
}

START_TEST(busy_carriers_take_the_batch)
{
	struct haul_runtime *rt = start(NULL);
	struct haul_coro *busy[4 * CARRIERS], *cos[100];
	atomic_bool end = false;

	for (unsigned i = 0; i < 4 * CARRIERS; i++)
		ck_assert_int_eq(
			haul_spawn_on(haul_carrier(rt, i % CARRIERS), &busy[i], yields, &end, NULL),
			0);
	ck_assert_int_eq(haul_spawn_many(rt, cos, home, NULL, 100, NULL), 0);
	for (unsigned i = 0; i < 100; i++)
		haul_join(cos[i], NULL, HAUL_FOREVER);
	end = true;
	for (unsigned i = 0; i < 4 * CARRIERS; i++)
		haul_join(busy[i], NULL, HAUL_FOREVER);
	runtime_stop(rt);
}
END_TEST

static void *parks(void *arg)
{
	intptr_t err = haul_park(HAUL_FOREVER);

	return (void *)err;
}

static void *ends(void *arg)
{
	return arg;
}

struct joiner {
	struct haul_coro *target;
	void *result;
};

static void *join_it(void *arg)
{
	struct joiner *j = arg;

	haul_join(j->target, &j->result, HAUL_FOREVER);
	return NULL;
}

/* Requests to a coroutine without a home are served when a carrier takes it. The joiners are a
 * thread, and a coroutine on a carrier of another cluster. */
START_TEST(requests_come_before_the_carrier)
{
	enum { UNPARKED, CANCELLED, BOTH, DETACHED, JOINED, JOINED_FAR, ALL };
	struct haul_runtime *rt = start(TWO_CLUSTERS);
	struct haul_coro_opts opts = {.near = haul_carrier(rt, 0), .name = "asked"};
	struct haul_coro *cos[ALL], *far;
	struct joiner here, there;
	struct hogs hogs;
	pthread_t thread;
	void *result;
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	/* Thieves of the other cluster are kept out as well. */
	ck_assert_uint_eq(cluster_of(haul_carrier(rt, 1)), 0);
	ck_assert_uint_eq(cluster_of(haul_carrier(rt, 2)), 1);
	hog_carriers(&hogs, rt, 0, 2);
	ck_assert_int_eq(haul_spawn_many(rt, cos, parks, NULL, DETACHED, &opts), 0);
	ck_assert_int_eq(haul_spawn_many(rt, cos + DETACHED, ends, (void *[]){NULL, &here, &there},
				 3, &opts),
		0);
	for (unsigned i = 0; i < ALL; i++)
		ck_assert_ptr_null(haul_coro_home(cos[i]));
	haul_dump(rt, out);
	fclose(out);
	ck_assert_ptr_nonnull(strstr(text, "no carrier: asked"));
	free(text);
	haul_unpark(cos[UNPARKED]);
	haul_unpark(cos[UNPARKED]);
	haul_cancel(cos[CANCELLED]);
	haul_unpark(cos[BOTH]);
	haul_cancel(cos[BOTH]);
	haul_detach(cos[DETACHED]);
	here = (struct joiner){.target = cos[JOINED]};
	there = (struct joiner){.target = cos[JOINED_FAR]};
	ck_assert_int_eq(pthread_create(&thread, NULL, join_it, &here), 0);
	ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, 2), &far, join_it, &there, NULL), 0);
	for (unsigned i = 0; i < 1000; i++)
		sched_yield(); /* both are then likely to come first */
	let_go(&hogs);
	haul_join(cos[UNPARKED], &result, HAUL_FOREVER);
	ck_assert_int_eq((intptr_t)result, 0);
	haul_join(cos[CANCELLED], &result, HAUL_FOREVER);
	ck_assert_int_eq((intptr_t)result, -ECANCELED);
	haul_join(cos[BOTH], &result, HAUL_FOREVER);
	ck_assert_int_eq((intptr_t)result, -ECANCELED);
	pthread_join(thread, NULL);
	ck_assert_ptr_eq(here.result, &here);
	haul_join(far, NULL, HAUL_FOREVER);
	ck_assert_ptr_eq(there.result, &there);
	runtime_stop(rt);
}
END_TEST

struct stopping {
	struct haul_runtime *rt;
	struct hogs *hogs;
	atomic_uint started, cancelled;
	int refused;
};

static void *is_cancelled(void *arg)
{
	struct stopping *s = arg;

	s->started++;
	s->cancelled += haul_cancelled();
	return NULL;
}

/* Releases the carriers once the stop has begun. */
static void *wait_for_stop(void *arg)
{
	struct stopping *s = arg;

	while (haul_spawn_any(s->rt, NULL, ends, NULL, NULL) == 0)
		sched_yield();
	s->refused = haul_spawn_many(s->rt, NULL, ends, NULL, 10, NULL);
	s->hogs->let_go = true;
	return NULL;
}

START_TEST(queued_starts_are_cancelled_by_the_stop)
{
	struct haul_runtime *rt = start(TWO_CLUSTERS);
	static struct hogs hogs;
	struct stopping s = {.rt = rt, .hogs = &hogs};
	struct haul_coro_opts opts = {0};
	void *args[MANY];
	pthread_t thread;

	for (unsigned i = 0; i < MANY; i++)
		args[i] = &s;
	hog_carriers(&hogs, rt, 0, CARRIERS);
	for (unsigned i = 0; i < CARRIERS; i++)
		haul_detach(hogs.cos[i]);
	for (unsigned i = 0; i < CARRIERS; i++) {
		opts.near = haul_carrier(rt, i);
		ck_assert_int_eq(haul_spawn_many(rt, NULL, is_cancelled, args, MANY, &opts), 0);
	}
	ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_stop, &s), 0);
	runtime_stop(rt);
	pthread_join(thread, NULL);
	ck_assert_uint_eq(s.started, CARRIERS * MANY);
	ck_assert_uint_eq(s.cancelled, CARRIERS * MANY);
	ck_assert_int_eq(s.refused, -ECANCELED);
}
END_TEST

START_TEST(many_or_none)
{
	struct haul_runtime *rt = start(NULL);
	struct haul_coro_opts large = {.stack_size = (size_t)1 << 40};

	ck_assert_int_eq(haul_spawn_many(rt, NULL, ends, NULL, 0, NULL), 0);
	ck_assert_int_eq(haul_spawn_many(rt, NULL, ends, NULL, 5, &large), -EINVAL);
	runtime_stop(rt);
}
END_TEST

SUITE_MAIN("placement", {idle_carriers_get_about_equally_many, 1},
	{busy_carriers_get_equally_many, 1}, {four_threads_spread_evenly, 1},
	{loaded_carrier_is_spared, 1}, {round_robin_reaches_each_carrier, 1},
	{near_means_its_cluster, 1}, {no_carrier_is_near_a_missing_nic, 1}, {many_each_run_once, 1},
	{many_on_a_carrier_stay_there, 1}, {all_idle_carriers_share_the_batch, KINDS},
	{busy_carriers_take_the_batch, 1}, {requests_come_before_the_carrier, 1},
	{queued_starts_are_cancelled_by_the_stop, 1}, {many_or_none, 1})
