/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Balancing in simulated time: the library's own decisions (drivers-glue/io/balance.c) beside the
 * rule of Open vSwitch and no moves, over carriers and queues of which only the numbers of packets
 * are simulated. In a tick each queue gets bursts of packets at random, each carrier serves what
 * its queues hold, and a packet waits for all that its carrier held before it. A queue that moves
 * is not polled for a time.
 */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <haul-dpdk/balance.h>

#include "base/random.h"

#define CARRIERS_MAX 64u
#define QUEUES_MAX 1024u
#define FLOWS 4096u
#define TICK_NS 50000u
#define TICKS_PER_S (1000000000u / TICK_NS)
#define SERVED_PER_TICK 50.0 /* packets: a carrier takes 1 us for one */
#define RING 1024.0 /* packets that a queue holds */
#define BURST 8.0
#define PAUSE_TICKS 2 /* in which a queue that moves is not polled: 100 us */
#define OVS_SECONDS 10 /* between two looks: six times as often as its shortest time */
#define BUCKETS 4096u /* of waits, of 1 us each */

enum shape { EVEN, ELEPHANT, ZIPF, MOVING, SHAPES };
static const char *const shape_names[] = {"even", "an elephant", "Zipf", "Zipf, moving"};

enum rule { FIXED, OVS, GREEDY, HAUL, HAUL_FEW, RULES };
static const char *const rule_names[] = {
	"fixed", "Open vSwitch", "evens out", "haul, all", "haul, few"};

struct world {
	enum shape shape;
	enum rule rule;
	unsigned nb_carriers, nb_queues, seconds;
	double load;
	struct hauli_random random;
	struct haul_balance balance;
	struct haul_balance_queue queues[QUEUES_MAX];
	double rate[QUEUES_MAX]; /* packets in a tick */
	double held[QUEUES_MAX];
	unsigned paused[QUEUES_MAX]; /* ticks */
	double worked[CARRIERS_MAX]; /* ticks, in this interval */
	double came, served, dropped, waits[BUCKETS], in_use;
	unsigned moves, steps;
};

/* 40 % of the load of four carriers, which is about what one can do. */
static double elephant(const struct world *w)
{
	return 0.4 * 4 / w->nb_carriers;
}

static double weight(const struct world *w, unsigned flow)
{
	if (w->shape == EVEN)
		return 1.0 / FLOWS;
	if (w->shape == ELEPHANT)
		return flow == 0 ? elephant(w) : (1 - elephant(w)) / (FLOWS - 1);
	return 1.0 / (flow + 1);
}

/* Deals the flows out to queues, by a hash that is another one each time. */
static void deal_flows(struct world *w)
{
	double sum = 0, all = w->load * w->nb_carriers * SERVED_PER_TICK;

	memset(w->rate, 0, sizeof(w->rate));
	for (unsigned f = 0; f < FLOWS; f++)
		sum += weight(w, f);
	for (unsigned f = 0; f < FLOWS; f++)
		w->rate[hauli_random_below(&w->random, w->nb_queues)] += all * weight(w, f) / sum;
}

static double uniform(struct world *w)
{
	return (double)((hauli_random_next(&w->random) >> 11) + 1) * 0x1p-53;
}

static double poisson(struct world *w, double mean)
{
	double n = 0, left = uniform(w), limit = exp(-mean);

	while (left > limit) {
		left *= uniform(w);
		n++;
	}
	return n;
}

static void add_wait(struct world *w, double us, double packets)
{
	w->waits[us < BUCKETS ? (unsigned)us : BUCKETS - 1] += packets;
}

static void arrive(struct world *w, double held[static CARRIERS_MAX])
{
	for (unsigned i = 0; i < w->nb_queues; i++) {
		double n = BURST * poisson(w, w->rate[i] / BURST);
		unsigned c = w->queues[i].carrier;
		double taken = fmin(n, RING - w->held[i]);

		if (n == 0)
			continue;
		add_wait(w, held[c] + (w->paused[i] ? TICK_NS / 1000 * w->paused[i] : 0), taken);
		w->came += n;
		w->dropped += n - taken;
		w->held[i] += taken;
		held[c] += taken;
		w->queues[i].packets += (uint64_t)n;
	}
}

/* Each carrier serves its queues evenly. */
static void serve(struct world *w)
{
	double polled[CARRIERS_MAX] = {0};

	for (unsigned i = 0; i < w->nb_queues; i++)
		if (!w->paused[i])
			polled[w->queues[i].carrier] += w->held[i];
	for (unsigned c = 0; c < w->nb_carriers; c++)
		w->worked[c] += fmin(polled[c] / SERVED_PER_TICK, 1);
	for (unsigned i = 0; i < w->nb_queues; i++) {
		double all = polled[w->queues[i].carrier];
		double part = all > SERVED_PER_TICK ? SERVED_PER_TICK / all : 1;

		if (w->paused[i]) {
			w->paused[i]--;
			continue;
		}
		w->served += w->held[i] * part;
		w->held[i] *= 1 - part;
	}
}

static void tick(struct world *w)
{
	double held[CARRIERS_MAX] = {0};

	for (unsigned i = 0; i < w->nb_queues; i++)
		held[w->queues[i].carrier] += w->held[i];
	arrive(w, held);
	serve(w);
}

static double variance(const double *work, unsigned n)
{
	double sum = 0, squares = 0;

	for (unsigned i = 0; i < n; i++) {
		sum += work[i];
		squares += work[i] * work[i];
	}
	return squares / n - sum / n * sum / n;
}

/* If a thread works for 95 % or more: all queues anew, the busiest first, each to the idlest
 * thread; unless the variance of the threads' loads falls by less than 25 %. */
static unsigned ovs_step(struct world *w, const struct haul_balance_carrier *carriers)
{
	double before[CARRIERS_MAX], after[CARRIERS_MAX] = {0}, load[QUEUES_MAX];
	uint64_t packets[CARRIERS_MAX] = {0};
	unsigned to[QUEUES_MAX], n = 0;
	bool overloaded = false;

	for (unsigned c = 0; c < w->nb_carriers; c++) {
		before[c] = carriers[c].work;
		overloaded |= before[c] >= 0.95;
	}
	for (unsigned i = 0; i < w->nb_queues; i++)
		packets[w->queues[i].carrier] += w->queues[i].packets;
	for (unsigned i = 0; i < w->nb_queues; i++)
		load[i] = packets[w->queues[i].carrier] ? before[w->queues[i].carrier] *
				(double)w->queues[i].packets / (double)packets[w->queues[i].carrier]
							: 0;
	for (unsigned k = 0; overloaded && k < w->nb_queues; k++) {
		unsigned most = 0, least = 0;

		for (unsigned i = 1; i < w->nb_queues; i++)
			if (load[i] > load[most])
				most = i;
		for (unsigned c = 1; c < w->nb_carriers; c++)
			if (after[c] < after[least])
				least = c;
		after[least] += load[most];
		to[most] = least;
		load[most] = -1;
	}
	if (!overloaded ||
		variance(after, w->nb_carriers) > 0.75 * variance(before, w->nb_carriers))
		return 0;
	for (unsigned i = 0; i < w->nb_queues; i++) {
		if (to[i] == w->queues[i].carrier)
			continue;
		w->queues[i].carrier = to[i];
		w->paused[i] = PAUSE_TICKS;
		n++;
	}
	return n;
}

static unsigned haul_step(
	struct world *w, uint64_t now, const struct haul_balance_carrier *carriers)
{
	struct haul_balance_move moves[QUEUES_MAX];
	unsigned n = haul_balance_step(
		&w->balance, now, w->queues, w->nb_queues, carriers, w->nb_carriers, moves);

	for (unsigned i = 0; i < n; i++)
		w->paused[moves[i].queue] = PAUSE_TICKS;
	return n;
}

static void step(struct world *w, uint64_t now, unsigned ticks)
{
	struct haul_balance_carrier carriers[CARRIERS_MAX];

	for (unsigned c = 0; c < w->nb_carriers; c++)
		carriers[c].work = w->worked[c] / ticks;
	if (w->rule == OVS)
		w->moves += ovs_step(w, carriers);
	else if (w->rule != FIXED)
		w->moves += haul_step(w, now, carriers);
	w->in_use += w->rule == HAUL_FEW ? w->balance.in_use : w->nb_carriers;
	w->steps++;
	memset(w->worked, 0, sizeof(w->worked));
	for (unsigned i = 0; i < w->nb_queues; i++)
		w->queues[i].packets = 0;
}

static void run(struct world *w)
{
	const unsigned every = w->rule == OVS ? OVS_SECONDS * TICKS_PER_S : TICKS_PER_S / 10;

	hauli_random_init(&w->random, 1);
	for (unsigned i = 0; i < w->nb_queues; i++)
		w->queues[i].carrier = i % w->nb_carriers;
	w->balance.opts.all = w->rule != HAUL_FEW;
	if (w->rule == GREEDY) {
		w->balance.opts.gain = 1e-9;
		w->balance.opts.hold_ns = 1;
		w->balance.opts.moves_max = w->nb_queues;
	}
	deal_flows(w);
	for (unsigned t = 1; t <= w->seconds * TICKS_PER_S; t++) {
		tick(w);
		if (t % every == 0)
			step(w, (uint64_t)t * TICK_NS, every);
		if (w->shape == MOVING && t % TICKS_PER_S == 0)
			deal_flows(w);
	}
}

static double wait_at(const struct world *w, double quantile)
{
	double all = 0, sum = 0;
	unsigned i = 0;

	for (unsigned b = 0; b < BUCKETS; b++)
		all += w->waits[b];
	for (; i < BUCKETS - 1 && sum + w->waits[i] < quantile * all; i++)
		sum += w->waits[i];
	return i;
}

static void report(const struct world *w)
{
	printf("%-18s %8u %7u  %-19s %8.2f %7.0f %8.0f %9.1f %7.1f\n", shape_names[w->shape],
		w->nb_carriers, w->nb_queues, rule_names[w->rule], 100 * w->served / w->came,
		wait_at(w, 0.5), wait_at(w, 0.99), (double)w->moves / w->seconds,
		w->steps ? w->in_use / w->steps : w->nb_carriers);
}

static const char help[] =
	"usage: balance [--load SHARE] [--seconds N] [--queues-each N]\n\n"
	"Simulates rules that move queues between carriers, for 4, 16 and 64 of them. A packet "
	"takes a\n"
	"carrier 1 us, a move 100 us. \"Open vSwitch\": its rule, each 10 s; \"evens out\": "
	"each\n"
	"100 ms, whatever is gained, as RSS++; \"haul\": haul_balance_step() each 100 ms on all\n"
	"carriers, or on as few as the load needs.\n\n"
	"  --load SHARE       of all carriers' time (default: 0.6)\n"
	"  --seconds N        of simulated time (default: 30)\n"
	"  --queues-each N    queues for each carrier, 1 to 16 (default: 8)\n";

int main(int argc, char **argv)
{
	static const struct option options[] = {{"load", required_argument, NULL, 'l'},
		{"seconds", required_argument, NULL, 's'},
		{"queues-each", required_argument, NULL, 'q'}, {"help", no_argument, NULL, 'h'},
		{0}};
	struct world *w = malloc(sizeof(*w));
	unsigned seconds = 30, each = 8;
	double load = 0.6;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'l')
			load = atof(optarg);
		else if (c == 's')
			seconds = (unsigned)atoi(optarg);
		else if (c == 'q')
			each = (unsigned)atoi(optarg);
		else if (c == 'h')
			return fputs(help, stdout) < 0;
		else
			return 2;
	}
	if (!w || load <= 0 || load > 2 || seconds == 0 || each == 0 || each > 16) {
		fputs("balance: --load is up to 2, --seconds from 1, --queues-each 1 to 16\n",
			stderr);
		return 2;
	}
	printf("%-18s %8s %7s  %-19s %8s %7s %8s %9s %7s\n", "load", "carriers", "queues", "rule",
		"served %", "p50 us", "p99 us", "moves/s", "in use");
	for (unsigned shape = 0; shape < SHAPES; shape++)
		for (unsigned carriers = 4; carriers <= CARRIERS_MAX; carriers *= 4)
			for (unsigned rule = 0; rule < RULES; rule++) {
				*w = (struct world){.shape = (enum shape)shape,
					.rule = (enum rule)rule,
					.nb_carriers = carriers,
					.nb_queues = each * carriers,
					.seconds = seconds,
					.load = load};
				run(w);
				report(w);
			}
	free(w);
	return 0;
}
