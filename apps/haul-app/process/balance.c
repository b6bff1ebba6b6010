/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/balance.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <haul-dpdk/balance.h>

#include "process/say.h"

#define PERIOD (100 * HAUL_MS)
#define PATIENCE (100 * HAUL_MS) /* with a carrier: it keeps the main thread from all else */

static struct {
	struct haul_balance b;
	struct haul_balance_queue *queues;
	struct haul_balance_carrier *carriers;
	struct haul_balance_move *moves;
	struct source {
		unsigned port, number; /* of a queue or a bucket */
		bool is_bucket;
		uint64_t packets; /* at the last look */
	} * sources; /* of each of queues */
	struct haul_io_share *shares; /* of each carrier at the last look */
	unsigned nb_queues, nb_carriers;
	uint64_t at; /* of the last look */
	uint64_t nb_moves;
	struct haul_balance_move said; /* the first one of the last plan of a dry run */
} bal;

/* Queues of ports that have fewer than there are pollers do not move: their buckets do. */
static bool queues_move(const struct hauli_app *a, unsigned port)
{
	return haul_port_queues(a->ports[port]) >= bal.nb_carriers;
}

static unsigned count_carriers(const struct hauli_app *a)
{
	unsigned n = 0;

	while (haul_io_txq(a->pub.io, 0, n))
		n++;
	return n;
}

static bool allocate(unsigned sources, unsigned carriers)
{
	bal.queues = calloc(sources, sizeof(bal.queues[0]));
	bal.sources = calloc(sources, sizeof(bal.sources[0]));
	bal.moves = calloc(sources, sizeof(bal.moves[0]));
	bal.carriers = calloc(carriers, sizeof(bal.carriers[0]));
	bal.shares = calloc(carriers, sizeof(bal.shares[0]));
	return bal.queues && bal.sources && bal.moves && bal.carriers && bal.shares;
}

static bool may_go(void *arg, unsigned i, unsigned carrier)
{
	const struct hauli_app *a = arg;
	const struct source *s = &bal.sources[i];

	return !s->is_bucket || haul_io_can_move_bucket(a->pub.io, s->port, s->number, carrier);
}

static void add_buckets(const struct hauli_app *a, unsigned port)
{
	struct haul_bucket_stats st;
	unsigned queues = haul_port_queues(a->ports[port]);
	unsigned n = haul_io_buckets(a->pub.io, port);

	for (unsigned b = 0; b < n; b++)
		if (haul_io_get_bucket_stats(a->pub.io, port, b, &st))
			bal.sources[bal.nb_queues++] = (struct source){port, b, true, 0};
	/* The carrier of a queue that is spread keeps the queue. */
	if (queues > bal.b.opts.least)
		bal.b.opts.least = queues;
}

static void add_sources(const struct hauli_app *a)
{
	for (unsigned i = 0; i < a->nb_ports; i++) {
		if (!queues_move(a, i)) {
			add_buckets(a, i);
			continue;
		}
		for (unsigned q = 0; q < haul_port_queues(a->ports[i]); q++)
			bal.sources[bal.nb_queues++] = (struct source){i, q, false, 0};
	}
}

static int fail(const struct hauli_app *a, const char *line)
{
	return hauli_app_fail(a, -EINVAL, line);
}

int hauli_app_balance_begin(struct hauli_app *a)
{
	unsigned most = 0;

	if (a->balance == HAULI_BALANCE_OFF)
		return HAUL_APP_DONE;
	bal.nb_carriers = count_carriers(a);
	if (a->plan->carriers == 1)
		return fail(
			a, "--balance has no effect with one carrier; give --carriers 2 or more");
	for (unsigned i = 0; i < a->nb_ports; i++)
		most += queues_move(a, i) ? haul_port_queues(a->ports[i])
					  : haul_io_buckets(a->pub.io, i);
	if (most == 0 || bal.nb_carriers == 1)
		return fail(a,
			"--balance has no effect: no queue or bucket can move; give a port as many "
			"queues as there are carriers, or --spread all");
	if (!allocate(most, bal.nb_carriers))
		return hauli_app_fail(a, -ENOMEM, "--balance: no memory");
	bal.b.opts.all = a->balance != HAULI_BALANCE_FEW;
	bal.b.opts.may_go = may_go;
	bal.b.opts.arg = a;
	add_sources(a);
	bal.at = a->began_at;
	return HAUL_APP_DONE;
}

void hauli_app_balance_end(void)
{
	free(bal.queues);
	free(bal.sources);
	free(bal.moves);
	free(bal.carriers);
	free(bal.shares);
	memset(&bal, 0, sizeof(bal));
}

uint64_t hauli_app_balance_next(const struct hauli_app *a)
{
	return bal.nb_queues > 0 && !a->paused ? bal.at + PERIOD : HAUL_FOREVER;
}

static void look_at(const struct hauli_app *a, const struct source *s, struct haul_balance_queue *q,
	uint64_t *packets)
{
	struct haul_bucket_stats bucket;
	struct haul_queue_stats queue;

	if (s->is_bucket) {
		(void)haul_io_get_bucket_stats(a->pub.io, s->port, s->number, &bucket);
		q->carrier = bucket.carrier;
		*packets = bucket.rx_packets;
	} else {
		(void)haul_io_get_queue_stats(a->pub.io, s->port, s->number, &queue);
		q->carrier = queue.carrier;
		*packets = queue.rx_packets;
	}
}

static void look_at_queues(const struct hauli_app *a)
{
	uint64_t packets;

	for (unsigned i = 0; i < bal.nb_queues; i++) {
		struct source *s = &bal.sources[i];

		look_at(a, s, &bal.queues[i], &packets);
		bal.queues[i].packets = packets - s->packets;
		s->packets = packets;
	}
}

static void look_at_carriers(const struct hauli_app *a)
{
	for (unsigned c = 0; c < bal.nb_carriers; c++) {
		struct haul_io_share *was = &bal.shares[c], now;
		uint64_t work, all;

		haul_io_get_share(a->pub.io, c, &now);
		work = now.work_ns - was->work_ns;
		all = work + now.empty_ns - was->empty_ns + now.asleep_ns - was->asleep_ns;
		bal.carriers[c].work = all ? (double)work / (double)all : 0;
		*was = now;
	}
}

/* A queue whose move fails stays where it was, which the next look finds. False: a carrier does not
 * answer, which the watchdog tells. */
static bool make(struct hauli_app *a, const struct haul_balance_move *m)
{
	const struct source *s = &bal.sources[m->queue];
	char errbuf[512];
	int err = (s->is_bucket ? haul_io_move_bucket : haul_io_move_queue)(
		a->pub.io, s->port, s->number, m->to, PATIENCE, errbuf, sizeof(errbuf));

	if (err == 0)
		bal.nb_moves++;
	else if (err != -ETIMEDOUT)
		hauli_app_note(a, errbuf);
	return err != -ETIMEDOUT;
}

/* Says the first move of a plan, unless it is the one that was said last. */
static void say(struct hauli_app *a, const struct haul_balance_move *moves, unsigned n)
{
	const struct source *s = &bal.sources[moves->queue];

	for (unsigned i = 0; i < n; i++)
		bal.queues[moves[i].queue].moved_at = 0;
	if (memcmp(&bal.said, moves, sizeof(bal.said)) == 0)
		return;
	bal.said = *moves;
	haul_app_say(a->pub.program,
		"--balance all would move %s %u of port %u from carrier %u to %u%s: the busiest "
		"carrier would work for %.0f %% of its time, in place of %.0f %%",
		s->is_bucket ? "bucket" : "queue", s->number, s->port, moves->from, moves->to,
		n > 1 ? ", and others" : "", 100 * bal.b.after, 100 * bal.b.before);
}

void hauli_app_balance(struct hauli_app *a, uint64_t now)
{
	unsigned n;

	if (now < hauli_app_balance_next(a))
		return;
	bal.at = now;
	look_at_queues(a);
	look_at_carriers(a);
	n = haul_balance_step(
		&bal.b, now, bal.queues, bal.nb_queues, bal.carriers, bal.nb_carriers, bal.moves);
	if (a->balance == HAULI_BALANCE_DRY && n > 0) {
		say(a, bal.moves, n);
		return;
	}
	for (unsigned i = 0; i < n && make(a, &bal.moves[i]); i++)
		;
}

bool hauli_app_balance_done(uint64_t *moves, unsigned *in_use)
{
	*moves = bal.nb_moves;
	*in_use = bal.b.in_use;
	return bal.nb_queues > 0;
}
