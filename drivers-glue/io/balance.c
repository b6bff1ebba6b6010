/* SPDX-License-Identifier: BSD-3-Clause */
#include <haul-dpdk/balance.h>

#include "base/assert.h"

#define CARRIERS_MAX 256
/* A carrier that works for more is behind its load, of which its work says less than it is. */
#define FULL 0.95
#define LITTLE 0.05 /* of a carrier's time: to gain less is worth no move */

struct step {
	struct haul_balance *b;
	uint64_t now;
	struct haul_balance_queue *queues;
	unsigned nb_queues, nb_carriers, in_use;
	double work[CARRIERS_MAX]; /* of each carrier, with the moves so far */
	unsigned nb_polled[CARRIERS_MAX]; /* queues of each carrier, with the moves so far */
};

static double or_default(double given, double otherwise)
{
	return given > 0 ? given : otherwise;
}

static uint64_t or_ns(uint64_t given, uint64_t otherwise)
{
	return given ? given : otherwise;
}

static unsigned or_one(unsigned given)
{
	return given ? given : 1;
}

/* Of many small ones, as buckets are, some have to move together for a gain. */
static unsigned default_max(unsigned nb_queues, unsigned nb_carriers)
{
	return nb_queues / 8 > nb_carriers ? nb_queues / 8 : nb_carriers;
}

/* A carrier's work is due to its queues, by their packets. */
static void set_loads(struct step *s, const struct haul_balance_carrier *carriers)
{
	uint64_t packets[CARRIERS_MAX] = {0};

	for (unsigned c = 0; c < s->nb_carriers; c++)
		s->work[c] = carriers[c].work;
	for (unsigned i = 0; i < s->nb_queues; i++) {
		packets[s->queues[i].carrier] += s->queues[i].packets;
		s->nb_polled[s->queues[i].carrier]++;
	}
	for (unsigned i = 0; i < s->nb_queues; i++) {
		struct haul_balance_queue *q = &s->queues[i];

		q->load = q->packets
			? s->work[q->carrier] * (double)q->packets / (double)packets[q->carrier]
			: 0;
	}
}

static unsigned busiest(const struct step *s)
{
	unsigned most = 0;

	for (unsigned c = 1; c < s->in_use; c++)
		if (s->work[c] > s->work[most])
			most = c;
	return most;
}

static bool may_go(const struct step *s, unsigned queue, unsigned to)
{
	const struct haul_balance_opts *o = &s->b->opts;

	return !o->may_go || o->may_go(o->arg, queue, to);
}

/* The idlest carrier in use that was not tried yet; in_use: all were. */
static unsigned next_idlest(const struct step *s, const bool *tried)
{
	unsigned least = s->in_use;

	for (unsigned c = 0; c < s->in_use; c++)
		if (!tried[c] && (least == s->in_use || s->work[c] < s->work[least]))
			least = c;
	return least;
}

/* The idlest carrier in use to which a queue may go; in_use: there is none. */
static unsigned idlest_for(const struct step *s, unsigned queue)
{
	unsigned least = s->in_use;

	for (unsigned c = 0; c < s->in_use; c++)
		if ((least == s->in_use || s->work[c] < s->work[least]) && may_go(s, queue, c))
			least = c;
	return least;
}

static double all_work(const struct step *s)
{
	double sum = 0;

	for (unsigned c = 0; c < s->nb_carriers; c++)
		sum += s->work[c];
	return sum;
}

/* The number of carriers that have queues, as a prefix. */
static unsigned begun_with(const struct step *s)
{
	unsigned n = or_one(s->b->opts.least);

	for (unsigned c = n; c < s->nb_carriers; c++)
		if (s->nb_polled[c] > 0)
			n = c + 1;
	return n;
}

/* How many carriers are to be in use from now on. */
static void set_in_use(struct step *s)
{
	const struct haul_balance_opts *o = &s->b->opts;
	uint64_t shrink_ns = or_ns(o->shrink_ns, 10 * HAUL_S);
	struct haul_balance *b = s->b;

	if (o->all)
		b->in_use = s->nb_carriers;
	else if (b->in_use < o->least || b->in_use == 0 || b->in_use > s->nb_carriers)
		b->in_use = begun_with(s);
	s->in_use = b->in_use;
	if (s->in_use < s->nb_carriers && s->work[busiest(s)] > or_default(o->grow_at, 0.8)) {
		s->in_use++;
		b->low_since = 0;
		return;
	}
	if (o->all || s->in_use <= or_one(o->least) ||
		all_work(s) / (s->in_use - 1) >= or_default(o->shrink_at, 0.5)) {
		b->low_since = 0;
		return;
	}
	if (b->low_since == 0)
		b->low_since = s->now;
	if (s->now - b->low_since >= shrink_ns) {
		s->in_use--;
		b->low_since = s->now;
	}
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

static bool may_move(const struct step *s, const struct haul_balance_queue *q)
{
	uint64_t hold_ns = or_ns(s->b->opts.hold_ns, HAUL_S);

	return !q->moved_at || s->now - q->moved_at >= hold_ns;
}

/*
 * The queue of a carrier that fits best to another: the largest with which the other one works no
 * more than what is left here, so that what cannot be split stays; without such a queue, that after
 * whose move the busier of the two works least. nb_queues: none.
 */
static unsigned best(const struct step *s, unsigned from, unsigned to)
{
	double half = (s->work[from] - s->work[to]) / 2;
	double least = s->work[from] - LITTLE, fits = 0;
	unsigned found = s->nb_queues;

	for (unsigned i = 0; i < s->nb_queues; i++) {
		const struct haul_balance_queue *q = &s->queues[i];
		double then = larger(s->work[from] - q->load, s->work[to] + q->load);

		if (q->carrier != from || !may_move(s, q) || !may_go(s, i, to))
			continue;
		if (q->load <= half && q->load > fits) {
			found = i;
			fits = q->load;
		} else if (fits == 0 && then < least) {
			found = i;
			least = then;
		}
	}
	return found;
}

static void move(struct step *s, struct haul_balance_queue *q, unsigned to)
{
	s->work[q->carrier] -= q->load;
	s->work[to] += q->load;
	s->nb_polled[q->carrier]--;
	s->nb_polled[to]++;
	q->carrier = to;
}

/* The best queue, and the idlest of the carriers to which one may go. nb_queues: none. */
static unsigned best_of_all(const struct step *s, unsigned from, unsigned *to)
{
	bool tried[CARRIERS_MAX] = {false};

	while ((*to = next_idlest(s, tried)) < s->in_use && *to != from) {
		unsigned queue = best(s, from, *to);

		if (queue < s->nb_queues)
			return queue;
		tried[*to] = true;
	}
	return s->nb_queues;
}

/* Relieves a carrier by at most n moves; none if what is gained is too little. */
static unsigned relieve(struct step *s, unsigned from, struct haul_balance_move *moves, unsigned n)
{
	double gain = or_default(s->b->opts.gain, 0.25);
	double before = s->work[from], peak = 0;
	unsigned made = 0;

	while (made < n) {
		unsigned to, queue = best_of_all(s, from, &to);

		if (queue == s->nb_queues)
			break;
		move(s, &s->queues[queue], to);
		moves[made++] = (struct haul_balance_move){queue, from, to};
		peak = larger(peak, s->work[to]);
	}
	peak = larger(peak, s->work[from]);
	if (before > FULL)
		gain /= 4;
	if (made > 0 && peak <= before * (1 - gain) && peak <= before - LITTLE) {
		s->b->before = larger(s->b->before, before);
		s->b->after = larger(s->b->after, peak);
		return made;
	}
	while (made > 0) {
		const struct haul_balance_move *m = &moves[--made];

		move(s, &s->queues[m->queue], m->from);
	}
	return 0;
}

/* Takes all queues that may go from carriers that are not in use. */
static unsigned leave(struct step *s, struct haul_balance_move *moves, unsigned n)
{
	unsigned made = 0;

	for (unsigned i = 0; i < s->nb_queues && made < n; i++) {
		unsigned from = s->queues[i].carrier, to;

		if (from < s->in_use || (to = idlest_for(s, i)) == s->in_use)
			continue;
		s->b->before = larger(s->b->before, s->work[from]);
		move(s, &s->queues[i], to);
		s->b->after = larger(s->b->after, s->work[to]);
		moves[made++] = (struct haul_balance_move){i, from, to};
	}
	return made;
}

/* The busiest carrier in use that was not tried yet; in_use: all were. */
static unsigned next_busiest(const struct step *s, const bool *tried)
{
	unsigned most = s->in_use;

	for (unsigned c = 0; c < s->in_use; c++)
		if (!tried[c] && (most == s->in_use || s->work[c] > s->work[most]))
			most = c;
	return most;
}

static unsigned relieve_all(struct step *s, struct haul_balance_move *moves, unsigned n)
{
	bool tried[CARRIERS_MAX] = {false};
	unsigned made = 0, c;

	while (made < n && (c = next_busiest(s, tried)) < s->in_use) {
		tried[c] = true;
		made += relieve(s, c, moves + made, n - made);
	}
	return made;
}

unsigned haul_balance_step(struct haul_balance *b, uint64_t now, struct haul_balance_queue *queues,
	unsigned nb_queues, const struct haul_balance_carrier *carriers, unsigned nb_carriers,
	struct haul_balance_move *moves)
{
	struct step s = {.b = b,
		.now = now,
		.queues = queues,
		.nb_queues = nb_queues,
		.nb_carriers = nb_carriers};
	unsigned most, n;

	HAUL_MISUSE_IF(!b || !carriers || (nb_queues > 0 && !queues) || !moves,
		"the balance, the queues, the carriers or the moves are NULL");
	HAUL_MISUSE_IF(nb_carriers == 0 || nb_carriers > CARRIERS_MAX,
		"%u carriers are given; give 1 to %u", nb_carriers, CARRIERS_MAX);
	HAUL_MISUSE_IF(b->opts.least > nb_carriers, "%u carriers are always in use, of %u",
		b->opts.least, nb_carriers);
	most = b->opts.moves_max ? b->opts.moves_max : default_max(nb_queues, nb_carriers);
	set_loads(&s, carriers);
	set_in_use(&s);
	b->before = b->after = 0;
	n = leave(&s, moves, most);
	if (n == 0)
		n = relieve_all(&s, moves, most);
	/* Another carrier that relieves none is of no use. */
	if (n > 0 || s.in_use < b->in_use)
		b->in_use = s.in_use;
	for (unsigned i = 0; i < n; i++)
		queues[moves[i].queue].moved_at = now;
	return n;
}
