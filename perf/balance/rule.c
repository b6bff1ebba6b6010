/* SPDX-License-Identifier: BSD-3-Clause */
#include "rule.h"

#include <stdlib.h>

const char *const rule_names[] = {"fixed", "Open vSwitch", "evens out", "haul, all", "haul, few"};

void rule_begin(enum rule rule, struct haul_balance *b, unsigned nb_queues)
{
	b->opts.all = rule != HAUL_FEW;
	if (rule == GREEDY) {
		b->opts.gain = 1e-9;
		b->opts.hold_ns = 1;
		b->opts.moves_max = nb_queues;
	}
}

uint64_t rule_period(enum rule rule)
{
	return rule == OVS ? OVS_PERIOD : HAUL_S / 10;
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

struct ovs {
	const struct haul_balance *b;
	struct haul_balance_queue *queues;
	unsigned nb_queues, nb_carriers;
	double before[CARRIERS_MAX], after[CARRIERS_MAX];
	unsigned order[QUEUES_MAX], to[QUEUES_MAX]; /* the busiest queue first */
};

static int by_load(const void *a, const void *b, void *queues)
{
	const struct haul_balance_queue *all = queues;
	double x = all[*(const unsigned *)a].load, y = all[*(const unsigned *)b].load;

	return (x < y) - (x > y);
}

static void set_loads(struct ovs *o)
{
	uint64_t packets[CARRIERS_MAX] = {0};

	for (unsigned i = 0; i < o->nb_queues; i++)
		packets[o->queues[i].carrier] += o->queues[i].packets;
	for (unsigned i = 0; i < o->nb_queues; i++) {
		struct haul_balance_queue *q = &o->queues[i];

		q->load = q->packets
			? o->before[q->carrier] * (double)q->packets / (double)packets[q->carrier]
			: 0;
	}
}

static void assign(struct ovs *o)
{
	const struct haul_balance_opts *opts = &o->b->opts;

	for (unsigned i = 0; i < o->nb_queues; i++)
		o->order[i] = i;
	qsort_r(o->order, o->nb_queues, sizeof(o->order[0]), by_load, o->queues);
	for (unsigned k = 0; k < o->nb_queues; k++) {
		unsigned i = o->order[k], least = o->nb_carriers;

		for (unsigned c = 0; c < o->nb_carriers; c++)
			if ((least == o->nb_carriers || o->after[c] < o->after[least]) &&
				(!opts->may_go || opts->may_go(opts->arg, i, c)))
				least = c;
		o->after[least] += o->queues[i].load;
		o->to[i] = least;
	}
}

/* Open vSwitch's: if a thread works for 95 % or more: all queues anew, the busiest first, each to
 * the idlest thread; unless the variance of the threads' loads falls by less than 25 %. */
static unsigned ovs_step(
	struct ovs *o, const struct haul_balance_carrier *carriers, struct haul_balance_move *moves)
{
	bool overloaded = false;
	unsigned n = 0;

	for (unsigned c = 0; c < o->nb_carriers; c++) {
		o->before[c] = carriers[c].work;
		overloaded |= o->before[c] >= 0.95;
	}
	if (!overloaded)
		return 0;
	set_loads(o);
	assign(o);
	if (variance(o->after, o->nb_carriers) > 0.75 * variance(o->before, o->nb_carriers))
		return 0;
	for (unsigned i = 0; i < o->nb_queues; i++) {
		struct haul_balance_queue *q = &o->queues[i];

		if (o->to[i] == q->carrier)
			continue;
		moves[n++] = (struct haul_balance_move){i, q->carrier, o->to[i]};
		q->carrier = o->to[i];
	}
	return n;
}

unsigned rule_step(enum rule rule, struct haul_balance *b, uint64_t now,
	struct haul_balance_queue *queues, unsigned nb_queues,
	const struct haul_balance_carrier *carriers, unsigned nb_carriers,
	struct haul_balance_move *moves)
{
	struct ovs o = {
		.b = b, .queues = queues, .nb_queues = nb_queues, .nb_carriers = nb_carriers};

	if (rule == FIXED)
		return 0;
	if (rule == OVS)
		return ovs_step(&o, carriers, moves);
	return haul_balance_step(b, now, queues, nb_queues, carriers, nb_carriers, moves);
}
