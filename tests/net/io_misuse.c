/* SPDX-License-Identifier: BSD-3-Clause */
/* Mistakes in handlers that run on a poller's stack: each in a child, with an EAL of its own,
 * which dies with one line. */
#include <signal.h>

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

static void parks(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	haul_park();
}

/* More than the queue holds. */
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

static const struct misuse {
	haul_burst_fn *on_burst;
	haul_source_fn *source;
	const char *line;
} misuses[] = {
	{sleeps, NULL, "haul: haul_sleep(): called in a burst handler"},
	{yields, NULL, "haul: haul_yield(): called in a burst handler"},
	{parks, NULL, "haul: haul_park(): called in a burst handler"},
	{sends, NULL, "haul: haul_send(): called in a burst handler"},
	{drops, NULL, "haul: haul_drop(): there is no such reason"},
	{NULL, sleeping_source, "haul: haul_sleep(): called in a burst handler or a source"},
};
#define MISUSES ((int)(sizeof(misuses) / sizeof(misuses[0])))

static void handle(void *arg)
{
	const struct misuse *m = arg;
	struct haul_io_opts opts;
	struct bed bed;

	if (bed_init() >= 0)
		_exit(NO_EAL);
	bed_open(&bed, (const char *const[]){"null:", NULL});
	opts = bed_io_opts(&bed);
	opts.on_burst = m->on_burst;
	opts.source = m->source;
	bed_start(&bed, &opts);
	pause();
}

START_TEST(a_mistake_in_a_handler_is_told)
{
	const struct misuse *m = &misuses[_i];
	struct child c = child_run(handle, (void *)m);

	if (WIFEXITED(c.status) && WEXITSTATUS(c.status) == NO_EAL) {
		printf("# left out: no EAL here\n");
		return;
	}
	CHILD_DIED_BY(c, SIGABRT);
	ck_assert_msg(strstr(c.said, m->line) != NULL, "not \"%s\": %s", m->line, c.said);
}
END_TEST

SUITE_MAIN("io_misuse", {a_mistake_in_a_handler_is_told, MISUSES})
