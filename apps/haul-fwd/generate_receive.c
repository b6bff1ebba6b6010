/* SPDX-License-Identifier: BSD-3-Clause */
/* The generator's receiver: records the latencies and counts of what arrives. */
#include <rte_prefetch.h>

#include "generate.h"

/* Counts of one burst. */
struct news {
	uint16_t received, reordered, duplicated, foreign, unstamped;
};

/* True if it was sent before the last "start", and is late. */
static bool is_of_past_run(const struct stamp *stamp)
{
	unsigned ago = (GENERATE_RUNS + generate.run - stamp->run) % GENERATE_RUNS;

	return stamp->run > 0 && ago > 0 && ago <= generate.past_runs;
}

/* The flow of a stamp; NULL: the stamp is of a third generator, of a past run, or damaged. */
static struct receiver_flow *flow_of(struct generate_carrier *c, const struct stamp *stamp)
{
	if (stamp->run == generate.run)
		return stamp->flow < generate.options.flows * generate.app->nb_ports
			? &c->own[stamp->flow]
			: NULL;
	if (is_of_past_run(stamp))
		return NULL;
	if (!c->has_foreign) {
		c->has_foreign = true;
		c->foreign_run = stamp->run;
	}
	return stamp->run == c->foreign_run ? &c->foreign[stamp->flow] : NULL;
}

static void receive_one(struct generate_carrier *c, struct haul_rx *rx, const struct rte_mbuf *pkt,
	uint64_t now, struct news *news)
{
	struct receiver_flow *flow = NULL;
	struct stamp stamp;
	uint64_t age;

	if (packet_read(pkt, &stamp))
		flow = flow_of(c, &stamp);
	if (!flow) {
		news->unstamped++;
		return;
	}
	switch (receiver_note(flow, stamp.sequence)) {
	case RECEIVER_DUPLICATED:
		news->duplicated++;
		return;
	case RECEIVER_REORDERED:
		news->reordered++;
		break;
	default:
		break;
	}
	news->received += stamp.run == generate.run;
	news->foreign += stamp.run != generate.run;
	age = stamp_age(&stamp, now);
	haul_hist_add(&c->intended, age, 1);
	haul_record(rx, HAUL_STAGE_ARRIVAL, age, 1); /* for --times and --hist */
	if (c->samples)
		samples_add(c->samples, now - age, age);
	haul_hist_add(&c->actual, age > stamp.late ? age - stamp.late : 0, 1);
}

void generate_burst(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	struct generate_carrier *c = &generate.carriers[rx->carrier];
	uint64_t now = stamp_clock();
	struct news news = {0};
	uint16_t i;

	for (i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(pkts[i], void *));
	for (i = 0; i < n; i++)
		receive_one(c, rx, pkts[i], now, &news);
	if (news.received > 0)
		haul_app_count(GENERATE_RECEIVED, news.received);
	if (news.reordered > 0)
		haul_app_count(GENERATE_REORDERED, news.reordered);
	if (news.duplicated > 0)
		haul_app_count(GENERATE_DUPLICATED, news.duplicated);
	if (news.foreign > 0)
		haul_app_count(GENERATE_FOREIGN, news.foreign);
	if (news.unstamped > 0)
		haul_app_count(GENERATE_UNSTAMPED, news.unstamped);
	c->out -= news.received < c->out ? news.received : c->out;
	c->last_at = now;
	haul_drop(rx, pkts, n, HAUL_DROP_CONSUMED);
}
