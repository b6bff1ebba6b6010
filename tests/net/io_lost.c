/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets that handlers forget, keep, free twice, clone, send or drop, in random mixtures, with
 * both kinds of handlers, with and without stealing: what haul_io_free() finds is what was done.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "io_bed.h"
#include "support/stress.h"

enum kind {
	DROPS,
	FREES,
	FORGETS,
	KEEPS, /* main() frees it once */
	FREED_TWICE, /* by main() */
	CLONES, /* and drops both */
	FORGETS_OWN, /* a buffer that it allocates; and drops the packet */
	SENDS_BACK,
	WAITS, /* until it is cancelled; then forgets it */
	KINDS
};

#define PACKETS 300 /* in each of two phases, with a handler each */
#define SENT_BACK (UINT32_C(1) << 20) /* a number of these is dropped */
#define ROUNDS 8

static enum kind kinds[2 * PACKETS];
static struct bed bed;
static _Atomic unsigned handled, to_handle, nb_kept;
static struct rte_mbuf *kept[2 * PACKETS];

static void keep(struct rte_mbuf *pkt)
{
	kept[nb_kept++] = pkt;
}

static void drop(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	haul_drop(rx, &pkt, 1, HAUL_DROP_CONSUMED);
}

static void send_back(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	uint32_t number = SENT_BACK;

	memcpy(rte_pktmbuf_mtod(pkt, char *) + 14, &number, sizeof(number));
	to_handle++;
	if (haul_try_send(rx->reply, pkt) == 0)
		return;
	to_handle--;
	drop(rx, pkt);
}

static void handle(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	uint32_t number = bed_number(pkt);
	enum kind kind = number == SENT_BACK ? DROPS : kinds[number];
	struct rte_mbuf *clone;

	switch (kind) {
	case FREES:
		rte_pktmbuf_free(pkt);
		break;
	case KEEPS:
	case FREED_TWICE:
		keep(pkt);
		break;
	case CLONES:
		clone = rte_pktmbuf_clone(pkt, bed.pool);
		ck_assert_ptr_nonnull(clone);
		drop(rx, pkt);
		drop(rx, clone);
		break;
	case FORGETS_OWN:
		ck_assert_ptr_nonnull(rte_pktmbuf_alloc(bed.pool));
		drop(rx, pkt);
		break;
	case SENDS_BACK:
		send_back(rx, pkt);
		break;
	case DROPS:
		drop(rx, pkt);
		break;
	default: /* forgets it */
		break;
	}
	handled++;
	while (kind == WAITS && haul_park(HAUL_FOREVER) != -ECANCELED)
		;
}

/* Exported, so that the line has their names. */
#define EXPORTED __attribute__((visibility("default")))
EXPORTED haul_packet_fn first_packet, second_packet;
EXPORTED haul_burst_fn first_burst, second_burst;

void first_packet(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	handle(rx, pkt);
}

void second_packet(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	handle(rx, pkt);
}

void first_burst(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++)
		handle(rx, pkts[i]);
}

void second_burst(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	for (uint16_t i = n; i > 0; i--)
		handle(rx, pkts[i - 1]);
}

/* Each kind of sick ones is the commonest in some rounds, at the first ones for certain. */
static void choose_kinds(struct hauli_random *random, bool bursts, unsigned round)
{
	const enum kind well[] = {DROPS, FREES, KEEPS, CLONES, SENDS_BACK};
	const enum kind ill[] = {FORGETS, FREED_TWICE, FORGETS_OWN, bursts ? FORGETS : WAITS};
	unsigned sick = round < 4 ? 50 : hauli_random_below(random, 4) * 20; /* percent */

	for (unsigned i = 0; i < 2 * PACKETS; i++) {
		if (hauli_random_below(random, 100) >= sick)
			kinds[i] = well[hauli_random_below(random, 5)];
		else if (hauli_random_below(random, 2) == 0)
			kinds[i] = ill[round % 4];
		else
			kinds[i] = ill[hauli_random_below(random, 4)];
	}
}

static unsigned count(unsigned phase, enum kind kind)
{
	unsigned n = 0;

	for (unsigned i = phase * PACKETS; i < (phase + 1) * PACKETS; i++)
		n += kinds[i] == kind;
	return n;
}

static void run_phase(unsigned phase)
{
	to_handle += PACKETS;
	bed_send(&bed, 0, 0, phase * PACKETS, PACKETS / 2);
	bed_send(&bed, 0, 1, phase * PACKETS + PACKETS / 2, PACKETS / 2);
	WAIT_UNTIL(handled == to_handle);
	ck_assert_msg(
		haul_io_stop(bed.io, 0, bed.errbuf, sizeof(bed.errbuf)) == 0, "%s", bed.errbuf);
}

static void free_kept(void)
{
	for (unsigned i = 0; i < nb_kept; i++) {
		if (kinds[bed_number(kept[i])] == FREED_TWICE)
			rte_pktmbuf_free(kept[i]);
		rte_pktmbuf_free(kept[i]);
	}
	nb_kept = 0;
}

static void must_say(bool says, const char *format, unsigned n, const char *name)
{
	char text[80];

	snprintf(text, sizeof(text), format, n, name);
	ck_assert_msg(!!strstr(bed.errbuf, text) == says, "%s\"%s\": %s", says ? "not " : "", text,
		bed.errbuf);
}

static void check(bool bursts, int err)
{
	unsigned twice = count(0, FREED_TWICE) + count(1, FREED_TWICE);
	unsigned first = count(0, FORGETS) + count(0, WAITS);
	unsigned second = count(1, FORGETS) + count(1, WAITS);
	unsigned lost = first + second + count(0, FORGETS_OWN) + count(1, FORGETS_OWN);

	if (lost == twice) { /* the number of free buffers is right */
		ck_assert_int_eq(err, 0);
		return;
	}
	ck_assert_int_eq(err, -EIO);
	must_say(lost > 0, "%u of 8192 packet buffers did not come back%s", lost, "");
	must_say(twice > 0, "%u packet buffers came back twice%s", twice, "");
	must_say(HAUL_CHECKS && first > 0, "%u by first_%s", first, bursts ? "burst" : "packet");
	must_say(HAUL_CHECKS && second > 0, "%u by second_%s", second, bursts ? "burst" : "packet");
}

static void run(struct hauli_random *random, unsigned round)
{
	bool bursts = hauli_random_below(random, 2) == 0;
	enum haul_steal steal =
		hauli_random_below(random, 2) == 0 ? HAUL_STEAL_GLOBAL : HAUL_STEAL_OFF;
	struct haul_io_opts opts;

	choose_kinds(random, bursts, round);
	bed_open_with(&bed, (const char *const[]){"ring:", NULL}, BED_CARRIERS, steal);
	opts = bed_io_opts(&bed);
	opts.on_packet = bursts ? NULL : first_packet;
	opts.on_burst = bursts ? first_burst : NULL;
	bed_start(&bed, &opts);
	run_phase(0);
	opts.on_packet = bursts ? NULL : second_packet;
	opts.on_burst = bursts ? second_burst : NULL;
	ck_assert_msg(haul_io_resume(bed.io, &opts, bed.errbuf, sizeof(bed.errbuf)) == 0, "%s",
		bed.errbuf);
	run_phase(1);
	free_kept();
	bed.errbuf[0] = '\0';
	check(bursts, bed_take_down(&bed));
}

START_TEST(what_is_lost_or_freed_twice_is_told)
{
	struct hauli_random random;

	hauli_random_init(&random, stress_seed());
	for (unsigned i = 0; i < ROUNDS; i++)
		run(&random, i);
}
END_TEST

BED_MAIN("io_lost", {what_is_lost_or_freed_twice_is_told})
