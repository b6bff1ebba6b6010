/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A table of neighbours among carriers: coroutines find and use neighbours, and wait for them;
 * others answer, with addresses that change, and let the table age. An address that is found was
 * written whole, and for that neighbour; whoever waits learns of the end; nobody is counted twice.
 */
#include "host/neigh.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <haul/haul.h>

#include "conc/word.h"
#include "sched/state/coroutine.h"
#include "support/runtime.h"
#include "support/stress.h"
#include "support/suite.h"

#define NEIGHBOURS 24u
#define COROUTINES 64u
#define CARRIERS 4u

static struct {
	struct hauli_neigh *t;
	struct haul_event earlier;
	struct hauli_u32_published ends;
	struct hauli_u64_shared found, waited, unreachable, refused;
	struct hauli_ptr_published wrong; /* what a coroutine found */
	uint64_t seed;
} run;

static struct hauli_ip ip(uint32_t n)
{
	return (struct hauli_ip){n + 1, ~(uint64_t)n};
}

/* Each byte of an address says which neighbour it is of, or which answer. */
static void address(uint8_t mac[6], uint32_t n, uint8_t answer)
{
	memset(mac, answer, 6);
	mac[0] = 2;
	mac[1] = (uint8_t)n;
}

static bool is_address(const uint8_t mac[6], uint32_t n)
{
	uint8_t whole[6];

	address(whole, n, mac[2]);
	return !memcmp(mac, whole, 6);
}

static void on_earlier(void *arg)
{
	haul_event_set(arg);
}

static void expect(bool holds, const char *what)
{
	if (!holds)
		hauli_ptr_published_set(&run.wrong, (void *)what);
}

static bool ends(void)
{
	return hauli_u32_published_get(&run.ends);
}

static int wait_for(uint32_t entry, uint8_t mac[6], uint64_t deadline)
{
	int err = 0, result;

	while ((result = hauli_neigh_look(run.t, entry, mac)) == -EAGAIN && !err)
		err = haul_event_wait(hauli_neigh_event(run.t, entry), deadline);
	hauli_neigh_leave(run.t, entry);
	return result == -EAGAIN ? err : result;
}

static void use_one(struct hauli_random *random)
{
	uint32_t n = hauli_random_below(random, NEIGHBOURS), entry;
	struct hauli_neigh_seen seen;
	uint8_t mac[6];
	int err = 0;

	if (hauli_neigh_find(run.t, ip(n), mac, &seen)) {
		hauli_u64_shared_add(&run.found, 1);
	} else {
		err = hauli_neigh_use(run.t, ip(n), haul_now(), mac, &entry);
		if (err == -EAGAIN) {
			hauli_u64_shared_add(&run.waited, 1);
			err = wait_for(entry, mac,
				hauli_random_below(random, 2) ? HAUL_FOREVER : haul_in(HAUL_MS));
		}
	}
	if (!err)
		expect(is_address(mac, n), "an address is not whole");
	else if (err == -EHOSTUNREACH)
		hauli_u64_shared_add(&run.unreachable, 1);
	else if (err == -ENOBUFS)
		hauli_u64_shared_add(&run.refused, 1);
	else
		expect(err == -ETIMEDOUT || (err == -ECANCELED && ends()), "an error");
}

static void *user(void *arg)
{
	struct hauli_random random;

	hauli_random_init(&random, run.seed + (uintptr_t)arg);
	while (!ends()) {
		use_one(&random);
		if (hauli_random_below(&random, 8) == 0)
			haul_yield();
		else if (hauli_random_below(&random, 64) == 0)
			haul_sleep(hauli_random_below(&random, 200) * HAUL_US);
		else
			haul_maybe_yield(false);
	}
	return NULL;
}

/* Answers some of the questions, and says things that nobody has asked. */
static void hear(struct hauli_random *random)
{
	uint32_t n = hauli_random_below(random, NEIGHBOURS);
	uint32_t what = hauli_random_below(random, 8);
	uint8_t mac[6];

	address(mac, n, (uint8_t)hauli_random_next(random));
	if (what < 5)
		hauli_neigh_answer(run.t, ip(n), mac, what < 3, what & 1, haul_now());
	else if (what == 5)
		hauli_neigh_asks(run.t, ip(n), mac, haul_now());
	else
		hauli_neigh_confirm(run.t, ip(n), haul_now());
}

static void *speaker(void *arg)
{
	struct hauli_random random;

	hauli_random_init(&random, run.seed + 1000 + (uintptr_t)arg);
	while (!ends()) {
		hear(&random);
		haul_sleep(hauli_random_below(&random, 30) * HAUL_US);
	}
	return NULL;
}

static void *ageing(void *arg)
{
	struct hauli_question q;
	uint8_t mac[6];

	(void)arg;
	while (!ends()) {
		haul_event_reset(&run.earlier);
		while (hauli_neigh_age(run.t, haul_now(), &q)) {
			uint32_t n = (uint32_t)q.ip.hi - 1;

			expect(n < NEIGHBOURS && (q.to_all || is_address(q.mac, n)), "a question");
			address(mac, n, (uint8_t)haul_now());
			if (n % 4 > 0)
				hauli_neigh_answer(run.t, q.ip, mac, true, true, haul_now());
		}
		(void)haul_event_wait(&run.earlier, hauli_neigh_due(run.t));
	}
	return NULL;
}

START_TEST(addresses_are_whole_and_nobody_waits_in_vain)
{
	/* So few places that entries make room, and times so short that all states come. */
	const struct hauli_neigh_opts opts = {
		.neighbours_max = 8,
		.waiters_max = COROUTINES,
		.tries = 2,
		.reachable_ns = 200 * HAUL_US,
		.delay_ns = 100 * HAUL_US,
		.retrans_ns = 100 * HAUL_US,
		.failed_ns = 100 * HAUL_US,
		.on_earlier = on_earlier,
		.arg = &run.earlier,
	};
	struct haul_coro *co[COROUTINES + 3];
	struct haul_host_stats st = {0};
	struct haul_runtime *rt = runtime_start_stealing(
		CARRIERS, NULL, _i == 1 ? HAUL_STEAL_GLOBAL : HAUL_STEAL_OFF);
	unsigned n = 0;

	memset(&run, 0, sizeof(run));
	run.seed = stress_seed();
	ck_assert_int_eq(hauli_neigh_create(&run.t, &opts), 0);
	for (uintptr_t i = 0; i < COROUTINES; i++)
		ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, i % CARRIERS), &co[n++], user,
					 (void *)i, NULL),
			0);
	for (uintptr_t i = 0; i < 2; i++)
		ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, (unsigned)i), &co[n++], speaker,
					 (void *)i, NULL),
			0);
	ck_assert_int_eq(
		haul_spawn_on(haul_carrier(rt, CARRIERS - 1), &co[n++], ageing, NULL, NULL), 0);
	for (uint64_t until = stress_deadline(); haul_now() < until;)
		usleep(10000); /* between looks at the clock */
	hauli_u32_published_set(&run.ends, 1);
	hauli_neigh_close(run.t);
	haul_event_set(&run.earlier);
	for (unsigned i = 0; i < n; i++)
		ck_assert_int_eq(haul_join(co[i], NULL, HAUL_FOREVER), 0);
	hauli_neigh_add_stats(run.t, &st);
	fprintf(stderr,
		"found %" PRIu64 ", waited %" PRIu64 ", unreachable %" PRIu64 ", refused %" PRIu64
		", learned %" PRIu64 ", changed %" PRIu64 ", evicted %" PRIu64 "\n",
		hauli_u64_shared_get(&run.found), hauli_u64_shared_get(&run.waited),
		hauli_u64_shared_get(&run.unreachable), hauli_u64_shared_get(&run.refused),
		st.learned, st.changed, st.evicted);
	ck_assert_pstr_eq(hauli_ptr_published_get(&run.wrong), NULL);
	ck_assert_uint_eq(st.waiters, 0);
	ck_assert_uint_eq(st.neighbours, 0);
	ck_assert_uint_gt(st.learned, 0);
	ck_assert_uint_gt(st.changed, 0);
	runtime_stop(rt);
	hauli_neigh_free(run.t);
}
END_TEST

SUITE_MAIN("neighbours", {addresses_are_whole_and_nobody_waits_in_vain, HAUL_STEALING ? 2 : 1})
