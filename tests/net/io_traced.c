/* SPDX-License-Identifier: BSD-3-Clause */
/* Poll rounds in the timeline: which time they are, and how many packets they had. */
#include "io_bed.h"
#include "support/timeline.h"

#define ONE ((const char *const[]){"ring:", NULL})
#define EVENTS (1u << 18)

static void open_traced(struct bed *bed)
{
	bed_open_opts(bed, ONE, BED_CARRIERS, &(struct haul_runtime_opts){.trace_events = EVENTS});
}

/* The round, and what the poller was told to do meanwhile: nothing, as a turn of it begins no round
 * of the turn before. */
static void check_round(
	const struct timeline_ring *r, uint64_t i, const struct timeline_event *poller)
{
	const struct timeline_event *e = &r->events[i];

	ck_assert_uint_le(e->value, e->ticks);
	while (i-- > 0 && r->events[i].ticks > e->ticks - e->value)
		ck_assert_msg(
			r->events[i].kind != HAUL_TRACE_RUN || r->events[i].value != poller->value,
			"a turn begins amid a round");
}

static const struct timeline_event *find_poller(const struct timeline_ring *r)
{
	for (uint64_t i = 0; i < r->n; i++)
		if (r->events[i].kind == HAUL_TRACE_RUN && strcmp(r->events[i].name, "poller") == 0)
			return &r->events[i];
	return NULL;
}

/* Returns the packets of all rounds. */
static uint64_t check_rounds(const struct timeline_ring *r)
{
	const struct timeline_event *poller = find_poller(r);
	uint64_t packets = 0;

	ck_assert_uint_eq(r->head.first, 0);
	for (uint64_t i = 0; i < r->n; i++) {
		if (r->events[i].kind != HAUL_TRACE_POLL)
			continue;
		packets += r->events[i].extra;
		if (poller)
			check_round(r, i, poller);
	}
	return packets;
}

static void *computes(void *arg)
{
	for (uint64_t until = haul_in(50 * HAUL_US); haul_now() < until;)
		;
	return NULL;
}

static void spawn_for(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	(void)haul_spawn(NULL, computes, NULL, NULL);
	rte_pktmbuf_free_bulk(pkts, n);
}

static void check(struct bed *bed, uint64_t packets)
{
	struct timeline_file *f;

	WAIT_UNTIL(bed_stats(bed, 0, 0).rx_packets == packets);
	ck_assert_int_eq(haul_io_stop(bed->io, HAUL_FOREVER, bed->errbuf, sizeof(bed->errbuf)), 0);
	f = timeline_take();
	ck_assert_uint_eq(check_rounds(&f->rings[0]), packets);
	timeline_close(f);
	ck_assert_int_eq(bed_take_down(bed), 0);
}

START_TEST(a_round_is_of_one_turn)
{
	struct haul_io_opts opts;
	struct bed bed;

	open_traced(&bed);
	opts = bed_io_opts(&bed);
	opts.on_burst = spawn_for;
	opts.burst = 4;
	bed_start(&bed, &opts);
	bed_send(&bed, 0, 0, 0, 2000);
	check(&bed, 2000);
}
END_TEST

/* A round that ends a sleep is one, too. */
START_TEST(rounds_around_sleeps)
{
	struct haul_io_opts opts;
	struct bed bed;

	open_traced(&bed);
	opts = bed_io_opts(&bed);
	opts.on_burst = spawn_for;
	opts.policy = (struct haul_poll_policy){.how = HAUL_POLL_SLEEP, .ns = HAUL_MS};
	bed_start(&bed, &opts);
	for (unsigned i = 0; i < 20; i++) {
		bed_send(&bed, 0, 0, i, 1);
		WAIT_UNTIL(bed_stats(&bed, 0, 0).rx_packets == i + 1);
		rte_delay_us_sleep(3000); /* for the poller to sleep */
	}
	check(&bed, 20);
}
END_TEST

BED_MAIN("io_traced", {a_round_is_of_one_turn, 1}, {rounds_around_sleeps, 1})
