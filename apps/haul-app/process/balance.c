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
		unsigned port, queue;
		uint64_t packets; /* at the last look */
	} * sources; /* of each of queues */
	struct haul_io_share *shares; /* of each carrier at the last look */
	unsigned nb_queues, nb_carriers;
	uint64_t at; /* of the last look */
	uint64_t nb_moves;
	struct haul_balance_move said; /* the first one of the last plan of a dry run */
} bal;

/* Queues of ports that have fewer than there are pollers do not move. */
static unsigned moving_queues(const struct hauli_app *a, unsigned port)
{
	unsigned n = haul_port_queues(a->ports[port]);

	return n >= bal.nb_carriers ? n : 0;
}

static unsigned count_carriers(const struct hauli_app *a)
{
	unsigned n = 0;

	while (haul_io_txq(a->pub.io, 0, n))
		n++;
	return n;
}

static bool allocate(unsigned queues, unsigned carriers)
{
	bal.queues = calloc(queues, sizeof(bal.queues[0]));
	bal.sources = calloc(queues, sizeof(bal.sources[0]));
	bal.moves = calloc(queues, sizeof(bal.moves[0]));
	bal.carriers = calloc(carriers, sizeof(bal.carriers[0]));
	bal.shares = calloc(carriers, sizeof(bal.shares[0]));
	return bal.queues && bal.sources && bal.moves && bal.carriers && bal.shares;
}

static int fail(const struct hauli_app *a, const char *line)
{
	return hauli_app_fail(a, -EINVAL, line);
}

int hauli_app_balance_begin(struct hauli_app *a)
{
	unsigned queues = 0;

	if (a->balance == HAULI_BALANCE_OFF)
		return HAUL_APP_DONE;
	bal.nb_carriers = count_carriers(a);
	for (unsigned i = 0; i < a->nb_ports; i++)
		queues += moving_queues(a, i);
	if (a->plan->carriers == 1)
		return fail(
			a, "--balance has no effect with one carrier; give --carriers 2 or more");
	if (queues == 0 || bal.nb_carriers == 1)
		return fail(a,
			"--balance has no effect: each port has fewer queues than there are "
			"carriers; give ports more queues, or fewer carriers");
	if (!allocate(queues, bal.nb_carriers))
		return hauli_app_fail(a, -ENOMEM, "--balance: no memory");
	for (unsigned i = 0; i < a->nb_ports; i++)
		for (unsigned q = 0; q < moving_queues(a, i); q++)
			bal.sources[bal.nb_queues++] = (struct source){i, q, 0};
	bal.b.opts.all = a->balance != HAULI_BALANCE_FEW;
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

static void look_at_queues(const struct hauli_app *a)
{
	struct haul_queue_stats st;

	for (unsigned i = 0; i < bal.nb_queues; i++) {
		struct source *s = &bal.sources[i];

		(void)haul_io_get_queue_stats(a->pub.io, s->port, s->queue, &st);
		bal.queues[i].carrier = st.carrier;
		bal.queues[i].packets = st.rx_packets - s->packets;
		s->packets = st.rx_packets;
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
	int err = haul_io_move_queue(
		a->pub.io, s->port, s->queue, m->to, PATIENCE, errbuf, sizeof(errbuf));

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
		"--balance all would move queue %u of port %u from carrier %u to %u%s: the busiest "
		"carrier would work for %.0f %% of its time, in place of %.0f %%",
		s->queue, s->port, moves->from, moves->to, n > 1 ? ", and others" : "",
		100 * bal.b.after, 100 * bal.b.before);
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
