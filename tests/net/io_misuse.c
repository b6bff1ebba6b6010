/* SPDX-License-Identifier: BSD-3-Clause */
/* Misuse in handlers that run on a poller's stack, and around pollers: each case runs in a child
 * with an EAL of its own, which dies with one line. */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "../unit/coro_child.h"
#include "io_bed.h"

#define NO_EAL 77

static void sleeps(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	haul_sleep(HAUL_US);
	rte_pktmbuf_free_bulk(pkts, n);
}

static void yields(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	haul_yield();
	rte_pktmbuf_free_bulk(pkts, n);
}

static void offers(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	haul_maybe_yield(false);
	rte_pktmbuf_free_bulk(pkts, n);
}

static void parks(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	haul_park(HAUL_FOREVER);
}

/* Sends more packets than the queue holds. */
static void sends(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	struct rte_mempool *pool = pkts[0]->pool;

	for (unsigned i = 0; i <= BED_BUFFER; i++)
		haul_send(rx->reply, rte_pktmbuf_alloc(pool));
	rte_pktmbuf_free_bulk(pkts, n);
}

static void drops(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	haul_drop(rx, pkts, n, HAUL_DROP_REASONS);
}

static uint16_t sleeping_source(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	haul_sleep(HAUL_US);
	return 0;
}

static uint16_t generous_source(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	return (uint16_t)(n + 1);
}

static const struct misuse {
	haul_burst_fn *on_burst;
	haul_source_fn *source;
	const char *line;
} misuses[] = {
	{sleeps, NULL, "haul: haul_sleep(): called in a burst handler"},
	{yields, NULL, "haul: haul_yield(): called in a burst handler"},
	{offers, NULL, "haul: haul_maybe_yield(): called in a burst handler"},
	{parks, NULL, "haul: haul_park(): called in a burst handler"},
	{sends, NULL, "haul: haul_send(): called in a burst handler"},
	{drops, NULL, "haul: haul_drop(): there is no such reason"},
	{NULL, sleeping_source, "haul: haul_sleep(): called in a burst handler or a source"},
	{NULL, generous_source,
		"haul: haul_source_fn(): returned 33 packets, and was asked for at "
		"most 32"},
};
#define MISUSES ((int)(sizeof(misuses) / sizeof(misuses[0])))

/* In a child: pollers on one null port. Ends the child where there is no EAL. */
static void start(struct bed *bed, haul_burst_fn *on_burst, haul_source_fn *source)
{
	struct haul_io_opts opts;

	if (bed_init() >= 0)
		_exit(NO_EAL);
	bed_open(bed, (const char *const[]){"null:", NULL});
	opts = bed_io_opts(bed);
	opts.on_burst = on_burst;
	opts.source = source;
	bed_start(bed, &opts);
}

static void handle(void *arg)
{
	const struct misuse *m = arg;
	struct bed bed;

	start(&bed, m->on_burst, m->source);
	pause();
}

static void died_with(struct child c, const char *line)
{
	if (WIFEXITED(c.status) && WEXITSTATUS(c.status) == NO_EAL) {
		printf("# left out: no EAL here\n");
		return;
	}
	CHILD_DIED_BY(c, SIGABRT);
	ck_assert_msg(strstr(c.said, line) != NULL, "not \"%s\": %s", line, c.said);
}

START_TEST(a_mistake_in_a_handler_is_reported)
{
	died_with(child_run(handle, (void *)&misuses[_i]), misuses[_i].line);
}
END_TEST

static atomic_bool took_long;

static uint64_t long_slices(void)
{
	struct haul_carrier_stats stats;

	haul_carrier_get_stats(haul_carrier_self(), &stats);
	return stats.long_slices;
}

/* Computes until the watchdog has found it. */
static void takes_long(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	while (long_slices() == 0)
		;
	haul_drop(rx, pkts, n, HAUL_DROP_CONSUMED);
	took_long = true;
}

static void handle_for_long(void *arg)
{
	struct bed bed;

	start(&bed, takes_long, NULL);
	WAIT_UNTIL(took_long);
	bed_close(&bed, 0); /* the watchdog has printed its line by then */
}

START_TEST(a_handler_that_takes_long_is_reported)
{
	struct child c = child_run(handle_for_long, NULL);

	if (WIFEXITED(c.status) && WEXITSTATUS(c.status) == NO_EAL) {
		printf("# left out: no EAL here\n");
		return;
	}
	ck_assert_int_eq(c.status, 0);
	ck_assert_msg(strstr(c.said, "haul: poller \"") && strstr(c.said, " without a poll, at "),
		"%s", c.said);
}
END_TEST

static void frees_all(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	rte_pktmbuf_free_bulk(pkts, n);
}

static void start_nowhere(struct bed *bed)
{
	const struct haul_io_opts opts = {0};

	haul_io_start(NULL, bed->rt, &opts, bed->errbuf, sizeof(bed->errbuf));
}

static void set_policy_of_nothing(struct bed *bed)
{
	const struct haul_poll_policy policy = {0};

	haul_io_set_policy(
		NULL, 0, HAUL_ALL, &policy, HAUL_FOREVER, bed->errbuf, sizeof(bed->errbuf));
}

static void stop_nothing(struct bed *bed)
{
	haul_io_stop(NULL, 0, bed->errbuf, sizeof(bed->errbuf));
}

static void free_nothing(struct bed *bed)
{
	haul_io_free(NULL, bed->errbuf, sizeof(bed->errbuf));
}

static void adopt_of_nothing(struct bed *bed)
{
	haul_port_queue_adopt(NULL, 0);
}

static void nic_of_nothing(struct bed *bed)
{
	haul_port_nic(NULL);
}

static void fault_of_nothing(struct bed *bed)
{
	haul_port_fault(NULL);
}

static void open_without_pool(struct bed *bed)
{
	const struct haul_port_opts opts = {.queues = 1};
	struct haul_port *port;

	haul_port_open(&port, "null:", &opts, bed->errbuf, sizeof(bed->errbuf));
}

static void close_under_pollers(struct bed *bed)
{
	haul_port_close(bed->ports[0]);
}

static const struct call {
	void (*make)(struct bed *bed);
	const char *line;
} calls[] = {
	{start_nowhere, "haul: haul_io_start(): io, the runtime or the options are NULL"},
	{set_policy_of_nothing, "haul: haul_io_set_policy(): io or the policy is NULL"},
	{stop_nothing, "haul: haul_io_stop(): NULL is given"},
	{free_nothing, "haul: haul_io_free(): NULL is given"},
	{adopt_of_nothing, "haul: haul_port_queue_adopt(): the port is NULL"},
	{nic_of_nothing, "haul: haul_port_nic(): the port is NULL"},
	{fault_of_nothing, "haul: haul_port_fault(): the port is NULL"},
	{open_without_pool,
		"haul: haul_port_open(): haul_port_opts.pool is NULL; haul_pool_create() makes "
		"one, or tells why not"},
	{close_under_pollers, "haul: haul_port_close(): pollers use port 'null:'"},
};
#define CALLS ((int)(sizeof(calls) / sizeof(calls[0])))

static void call(void *arg)
{
	const struct call *c = arg;
	struct bed bed;

	start(&bed, frees_all, NULL);
	c->make(&bed);
}

START_TEST(a_mistake_around_pollers_is_reported)
{
	died_with(child_run(call, (void *)&calls[_i]), calls[_i].line);
}
END_TEST

static void stop_in_copy(void *arg)
{
	struct haul_io_opts opts;
	struct bed bed;
	int status;

	if (bed_init() >= 0)
		_exit(NO_EAL);
	bed_open(&bed, (const char *const[]){"null:", NULL});
	opts = bed_io_opts(&bed);
	opts.on_burst = frees_all;
	bed_start(&bed, &opts);
	if (fork() == 0)
		_exit(haul_io_stop(bed.io, HAUL_FOREVER, bed.errbuf, sizeof(bed.errbuf)) == -EPERM
				? EXIT_SUCCESS
				: EXIT_FAILURE);
	wait(&status);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE);
}

START_TEST(a_copy_of_the_program_stops_no_pollers)
{
	struct child c = child_run(stop_in_copy, NULL);

	ck_assert_msg(WIFEXITED(c.status), "%s", c.said);
	ck_assert_msg(WEXITSTATUS(c.status) == EXIT_SUCCESS || WEXITSTATUS(c.status) == NO_EAL,
		"%d: %s", WEXITSTATUS(c.status), c.said);
}
END_TEST

SUITE_MAIN("io_misuse", {a_copy_of_the_program_stops_no_pollers},
	{a_mistake_in_a_handler_is_reported, MISUSES}, {a_handler_that_takes_long_is_reported, 1},
	{a_mistake_around_pollers_is_reported, CALLS})
