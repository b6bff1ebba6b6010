/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Balancing in simulated time: the library's own decisions (drivers-glue/io/balance.c) beside the
 * rule of Open vSwitch and no moves, over carriers and queues of which only the numbers of packets
 * are simulated. In a tick each queue gets bursts of packets at random, each carrier serves what
 * its queues hold, and a packet waits for all that its carrier held before it. A queue that moves
 * is not polled for a time.
 *
 * With --spread each four carriers share a queue, and "queue" is a bucket of it: the first of the
 * four receives all packets, and passes on those of the others, which takes some of its time.
 */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "load.h"
#include "rule.h"

#define TICK_NS 50000u
#define TICKS_PER_S (1000000000u / TICK_NS)
#define SERVED_PER_TICK 50.0 /* packets: a carrier takes 1 us for one */
#define RING 1024.0 /* packets that a queue holds */
#define BURST 8.0
#define PAUSE_TICKS 2 /* in which a queue that moves is not polled: 100 us */
#define WAITS 4096u /* each counts waits of one length, in us */
#define GROUP 4u /* carriers that share a queue whose packets are spread */
#define BUCKETS 128u /* of such a queue */

struct world {
	enum shape shape;
	enum rule rule;
	unsigned nb_carriers, nb_queues, seconds;
	double load;
	double spread; /* us that a packet takes which is passed on; negative: none are */
	double weights[FLOWS];
	struct hauli_random random;
	struct haul_balance balance;
	struct haul_balance_queue queues[QUEUES_MAX];
	double rate[QUEUES_MAX]; /* packets in a tick */
	double held[QUEUES_MAX];
	unsigned paused[QUEUES_MAX]; /* ticks */
	double worked[CARRIERS_MAX]; /* ticks, in this interval */
	double passing[CARRIERS_MAX]; /* the time that this takes, in packets, in this tick */
	double came, served, dropped, waits[WAITS], in_use;
	unsigned moves, steps;
};

/* The carrier that receives the packets of a bucket. */
static unsigned first_of(const struct world *w, unsigned bucket)
{
	return bucket * (w->nb_carriers / GROUP) / w->nb_queues * GROUP;
}

static bool may_go(void *arg, unsigned bucket, unsigned carrier)
{
	return first_of(arg, bucket) / GROUP == carrier / GROUP;
}

/* Deals the flows out to queues, by a hash that is another one each time. */
static void deal_flows(struct world *w)
{
	double all = w->load * w->nb_carriers * SERVED_PER_TICK;

	memset(w->rate, 0, sizeof(w->rate));
	for (unsigned f = 0; f < FLOWS; f++)
		w->rate[hauli_random_below(&w->random, w->nb_queues)] += all * w->weights[f];
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
	w->waits[us < WAITS ? (unsigned)us : WAITS - 1] += packets;
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
		if (w->spread > 0 && c != first_of(w, i))
			w->passing[first_of(w, i)] += taken * w->spread;
		w->queues[i].packets += (uint64_t)n;
	}
}

/* Each carrier serves its queues evenly. */
static void serve(struct world *w)
{
	double polled[CARRIERS_MAX] = {0}, room[CARRIERS_MAX];

	for (unsigned c = 0; c < w->nb_carriers; c++) {
		room[c] = fmax(SERVED_PER_TICK - w->passing[c], 0);
		w->passing[c] = 0;
	}
	for (unsigned i = 0; i < w->nb_queues; i++)
		if (!w->paused[i])
			polled[w->queues[i].carrier] += w->held[i];
	for (unsigned c = 0; c < w->nb_carriers; c++)
		w->worked[c] += 1 - (room[c] - fmin(polled[c], room[c])) / SERVED_PER_TICK;
	for (unsigned i = 0; i < w->nb_queues; i++) {
		double all = polled[w->queues[i].carrier], most = room[w->queues[i].carrier];
		double part = all > most ? most / all : 1;

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

static void step(struct world *w, uint64_t now, unsigned ticks)
{
	struct haul_balance_carrier carriers[CARRIERS_MAX];
	struct haul_balance_move moves[QUEUES_MAX];
	unsigned n;

	for (unsigned c = 0; c < w->nb_carriers; c++)
		carriers[c].work = w->worked[c] / ticks;
	n = rule_step(w->rule, &w->balance, now, w->queues, w->nb_queues, carriers, w->nb_carriers,
		moves);
	for (unsigned i = 0; i < n; i++)
		w->paused[moves[i].queue] = PAUSE_TICKS;
	w->moves += n;
	w->in_use += w->rule == HAUL_FEW ? w->balance.in_use : w->nb_carriers;
	w->steps++;
	memset(w->worked, 0, sizeof(w->worked));
	for (unsigned i = 0; i < w->nb_queues; i++)
		w->queues[i].packets = 0;
}

static void place(struct world *w)
{
	for (unsigned i = 0; i < w->nb_queues; i++)
		w->queues[i].carrier = w->spread < 0
			? i % w->nb_carriers
			: first_of(w, i) + i % BUCKETS / (BUCKETS / GROUP);
	if (w->spread < 0)
		return;
	w->balance.opts.may_go = may_go;
	w->balance.opts.arg = w;
}

static void run(struct world *w)
{
	const unsigned every = (unsigned)(rule_period(w->rule) / TICK_NS);

	hauli_random_init(&w->random, 1);
	place(w);
	rule_begin(w->rule, &w->balance, w->nb_queues);
	flow_weights(w->shape, w->nb_carriers, w->weights);
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

	for (unsigned b = 0; b < WAITS; b++)
		all += w->waits[b];
	for (; i < WAITS - 1 && sum + w->waits[i] < quantile * all; i++)
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
	"usage: balance [--load SHARE] [--seconds N] [--queues-each N] [--spread US]\n\n"
	"Simulates rules that move queues between carriers, for 4, 16 and 64 of them. A packet "
	"takes a\n"
	"carrier 1 us, a move 100 us. \"Open vSwitch\": its rule, each 10 s; \"evens out\": "
	"each\n"
	"100 ms, whatever is gained, as RSS++; \"haul\": haul_balance_step() each 100 ms on all\n"
	"carriers, or on as few as the load needs.\n\n"
	"  --load SHARE       of all carriers' time (default: 0.6)\n"
	"  --seconds N        of simulated time (default: 30)\n"
	"  --queues-each N    queues for each carrier, 1 to 16 (default: 8)\n"
	"  --spread US        each four carriers share a queue, of which 128 buckets move; to pass "
	"a "
	"packet\n"
	"                     on takes the first one US\n";

struct settings {
	double load, spread;
	unsigned seconds, each;
};

/* Those of one shape and number of carriers, for each rule. */
static void simulate(struct world *w, const struct settings *s, enum shape shape, unsigned carriers)
{
	for (unsigned rule = 0; rule < RULES; rule++) {
		if (rule == HAUL_FEW && s->spread >= 0)
			continue; /* the carriers that receive cannot be left */
		*w = (struct world){.shape = shape,
			.rule = (enum rule)rule,
			.nb_carriers = carriers,
			.nb_queues =
				s->spread < 0 ? s->each * carriers : BUCKETS * carriers / GROUP,
			.seconds = s->seconds,
			.spread = s->spread,
			.load = s->load};
		run(w);
		report(w);
	}
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"load", required_argument, NULL, 'l'},
		{"seconds", required_argument, NULL, 's'},
		{"queues-each", required_argument, NULL, 'q'},
		{"spread", required_argument, NULL, 'p'}, {"help", no_argument, NULL, 'h'}, {0}};
	struct world *w = malloc(sizeof(*w));
	struct settings s = {.load = 0.6, .spread = -1, .seconds = 30, .each = 8};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'l')
			s.load = atof(optarg);
		else if (c == 's')
			s.seconds = (unsigned)atoi(optarg);
		else if (c == 'q')
			s.each = (unsigned)atoi(optarg);
		else if (c == 'p')
			s.spread = atof(optarg);
		else if (c == 'h')
			return fputs(help, stdout) < 0;
		else
			return 2;
	}
	if (!w || s.load <= 0 || s.load > 2 || s.seconds == 0 || s.each == 0 || s.each > 16 ||
		s.spread > 1) {
		fputs("balance: --load is up to 2, --seconds from 1, --queues-each 1 to 16, "
		      "--spread 0 to 1\n",
			stderr);
		return 2;
	}
	printf("%-18s %8s %7s  %-19s %8s %7s %8s %9s %7s\n", "load", "carriers",
		s.spread < 0 ? "queues" : "buckets", "rule", "served %", "p50 us", "p99 us",
		"moves/s", "in use");
	for (unsigned shape = 0; shape < SHAPES; shape++)
		for (unsigned carriers = 4; carriers <= CARRIERS_MAX; carriers *= 4)
			simulate(w, &s, (enum shape)shape, carriers);
	free(w);
	return 0;
}
