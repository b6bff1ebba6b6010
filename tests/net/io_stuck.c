/* SPDX-License-Identifier: BSD-3-Clause */
/* Handlers that hold up a stop, or a change: it names them, and waits as long as it promises. */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>

#include <haul/sync.h>

#include "io_bed.h"

/* One port; fn handles its packets. */
static void start(struct bed *bed, haul_packet_fn *fn, void *arg)
{
	struct haul_io_opts opts;

	bed_open(bed, (const char *const[]){"ring:", NULL});
	opts = bed_io_opts(bed);
	opts.on_packet = fn;
	opts.arg = arg;
	bed_start(bed, &opts);
}

/* On carrier 1; returns while it runs. */
static void begin_a_handler(struct bed *bed)
{
	bed_send(bed, 0, 1, 0, 1);
	WAIT_UNTIL(bed_stats(bed, 0, 1).in_flight == 1);
}

static void sleep_until_the_gate(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	const atomic_bool *open = rx->arg;

	while (!*open)
		haul_sleep(HAUL_MS); /* what it is stuck in */
	rte_pktmbuf_free(pkt);
}

START_TEST(a_handler_that_sleeps_on_is_named)
{
	atomic_bool open = false;
	struct bed bed;

	start(&bed, sleep_until_the_gate, &open);
	begin_a_handler(&bed);
	ck_assert_int_eq(haul_io_stop(bed.io, 0, bed.errbuf, sizeof(bed.errbuf)), -EIO);
	ck_assert_msg(strstr(bed.errbuf, "carrier 1: 1 of 1 handlers"), "%s", bed.errbuf);
	open = true;
	ck_assert_int_eq(bed_take_down(&bed), 0);
}
END_TEST

static void hog_until_the_gate(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	const atomic_bool *open = rx->arg;

	while (!*open)
		;
	rte_pktmbuf_free(pkt);
}

START_TEST(a_carrier_that_does_not_answer_is_named)
{
	atomic_bool open = false;
	struct bed bed;

	start(&bed, hog_until_the_gate, &open);
	begin_a_handler(&bed);
	/* Two stops: the second one continues the first one's work. */
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(
			haul_io_stop(bed.io, 0, bed.errbuf, sizeof(bed.errbuf)), -ETIMEDOUT);
		ck_assert_msg(strstr(bed.errbuf, "carrier 1 does not answer: port 0 queue 1 0x"),
			"%s", bed.errbuf);
		ck_assert_msg(!strstr(bed.errbuf, "carrier 0"), "%s", bed.errbuf);
	}
	/* Its poller still uses the memory that these calls would free. */
	ck_assert_int_eq(haul_stop(bed.rt, 0), -EBUSY);
	ck_assert_int_eq(haul_io_free(bed.io, bed.errbuf, sizeof(bed.errbuf)), -EBUSY);
	open = true;
	ck_assert_int_eq(haul_io_stop(bed.io, HAUL_S, bed.errbuf, sizeof(bed.errbuf)), 0);
	ck_assert_int_eq(bed_take_down(&bed), 0);
}
END_TEST

#define PATIENCE (20 * HAUL_MS) /* of changes, which a carrier that is stuck never makes */

static void was_not_answered(const struct bed *bed, int err, const char *caller)
{
	char line[64];

	snprintf(line, sizeof(line), "%s: carrier 1 does not answer: port 0 queue 1 0x", caller);
	ck_assert_int_eq(err, -ETIMEDOUT);
	ck_assert_msg(strncmp(bed->errbuf, line, strlen(line)) == 0, "%s", bed->errbuf);
	ck_assert_ptr_null(strchr(bed->errbuf, '\n'));
}

static enum haul_poll_how policy_of(const struct bed *bed, unsigned queue)
{
	struct haul_queue_stats st;

	ck_assert(haul_io_get_queue_stats(bed->io, 0, queue, &st));
	ck_assert_uint_eq(st.carrier, queue);
	return st.policy.how;
}

static int set_sleep(struct bed *bed, unsigned carrier, uint64_t timeout_ns)
{
	const struct haul_poll_policy sleep = {.how = HAUL_POLL_SLEEP};

	return haul_io_set_policy(
		bed->io, HAUL_ALL, carrier, &sleep, timeout_ns, bed->errbuf, sizeof(bed->errbuf));
}

static int use(struct bed *bed, unsigned carrier)
{
	return haul_io_use(bed->io, &carrier, 1, PATIENCE, bed->errbuf, sizeof(bed->errbuf));
}

static int move(struct bed *bed, unsigned queue, unsigned carrier)
{
	return haul_io_move_queue(
		bed->io, 0, queue, carrier, PATIENCE, bed->errbuf, sizeof(bed->errbuf));
}

START_TEST(changes_do_not_wait_for_ever)
{
	atomic_bool open = false;
	struct bed bed;

	start(&bed, hog_until_the_gate, &open);
	begin_a_handler(&bed);
	was_not_answered(&bed, set_sleep(&bed, HAUL_ALL, PATIENCE), "haul_io_set_policy");
	was_not_answered(&bed, set_sleep(&bed, 1, 0), "haul_io_set_policy");
	was_not_answered(&bed,
		haul_io_set_burst(bed.io, 1, PATIENCE, bed.errbuf, sizeof(bed.errbuf)),
		"haul_io_set_burst");
	was_not_answered(&bed, move(&bed, 0, 1), "haul_io_move_queue");
	was_not_answered(&bed, move(&bed, 1, 0), "haul_io_move_queue");
	was_not_answered(&bed, use(&bed, 0), "haul_io_use");
	was_not_answered(&bed, use(&bed, 1), "haul_io_use");
	ck_assert(haul_io_is_used(bed.io, 0) && haul_io_is_used(bed.io, 1));
	ck_assert_int_eq(policy_of(&bed, 0), HAUL_POLL_SLEEP);
	ck_assert_int_eq(policy_of(&bed, 1), HAUL_POLL_SPIN);
	open = true;
	WAIT_UNTIL(bed_stats(&bed, 0, 1).in_flight == 0);
	/* Its coroutine comes after those of the changes: none of these was made late. */
	ck_assert_int_eq(
		haul_io_set_burst(bed.io, 1, HAUL_FOREVER, bed.errbuf, sizeof(bed.errbuf)), 0);
	ck_assert_int_eq(policy_of(&bed, 1), HAUL_POLL_SPIN);
	ck_assert_int_eq(set_sleep(&bed, 1, HAUL_FOREVER), 0);
	ck_assert_int_eq(policy_of(&bed, 1), HAUL_POLL_SLEEP);
	bed_close(&bed, HAUL_S);
}
END_TEST

static void *stop_io(void *arg)
{
	struct bed *bed = arg;

	return (void *)(intptr_t)haul_io_stop(bed->io, 0, bed->errbuf, sizeof(bed->errbuf));
}

START_TEST(a_coroutine_cannot_stop_what_it_waits_for)
{
	struct haul_coro *co;
	struct bed bed;
	void *err;

	start(&bed, hog_until_the_gate, NULL);
	ck_assert_int_eq(haul_spawn_on(haul_carrier(bed.rt, 0), &co, stop_io, &bed, NULL), 0);
	ck_assert_int_eq(haul_join(co, &err, HAUL_FOREVER), 0);
	ck_assert_int_eq((intptr_t)err, -EDEADLK);
	bed_close(&bed, 0);
}
END_TEST

static struct haul_mutex locked;
static struct haul_event locked_long_enough;

static void *hold_the_lock(void *arg)
{
	haul_mutex_lock(&locked);
	(void)haul_event_wait(&locked_long_enough, HAUL_FOREVER);
	haul_mutex_unlock(&locked);
	return NULL;
}

static void wait_for_the_lock(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	haul_mutex_lock(&locked);
	haul_mutex_unlock(&locked);
	rte_pktmbuf_free(pkt);
}

static void *count_sleeps(void *arg)
{
	struct rusage used;

	return (void *)(intptr_t)(getrusage(RUSAGE_THREAD, &used) ? -1 : used.ru_nvcsw);
}

/* How often the carrier's thread has given up its CPU to wait. */
static intptr_t sleeps_of(struct bed *bed, unsigned carrier)
{
	struct haul_coro *co;
	void *n;

	ck_assert_int_eq(
		haul_spawn_on(haul_carrier(bed->rt, carrier), &co, count_sleeps, NULL, NULL), 0);
	ck_assert_int_eq(haul_join(co, &n, HAUL_FOREVER), 0);
	ck_assert_int_ge((intptr_t)n, 0);
	return (intptr_t)n;
}

#define SLEEPS 100 /* a poller that naps does so thousands of times; one that spins, a few times */

/* Its carrier sleeps meanwhile: one that spins waits for a CPU on a busy machine, and the stop
 * takes longer by that time. */
START_TEST(a_handler_in_a_lock_does_not_make_the_stop_spin)
{
	struct bed bed;
	intptr_t before, slept;

	start(&bed, wait_for_the_lock, NULL);
	ck_assert_int_eq(
		haul_spawn_on(haul_carrier(bed.rt, 0), NULL, hold_the_lock, NULL, NULL), 0);
	WAIT_UNTIL(*(volatile uint64_t *)&locked != 0);
	begin_a_handler(&bed);
	before = sleeps_of(&bed, 1);
	ck_assert_int_eq(haul_io_stop(bed.io, 0, bed.errbuf, sizeof(bed.errbuf)), -EIO);
	ck_assert_msg(strstr(bed.errbuf, "carrier 1: 1 of 1 handlers") &&
			strstr(bed.errbuf, "haul_mutex_lock() is a wait that no cancel ends"),
		"%s", bed.errbuf);
	slept = sleeps_of(&bed, 1) - before;
	haul_event_set(&locked_long_enough);
	ck_assert_int_eq(bed_take_down(&bed), 0);
	ck_assert_int_ge(slept, SLEEPS);
}
END_TEST

BED_MAIN("io_stuck", {a_handler_that_sleeps_on_is_named}, {a_carrier_that_does_not_answer_is_named},
	{changes_do_not_wait_for_ever}, {a_coroutine_cannot_stop_what_it_waits_for},
	{a_handler_in_a_lock_does_not_make_the_stop_spin})
