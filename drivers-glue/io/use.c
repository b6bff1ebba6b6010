/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Carriers that are taken out of use, and into it again, while packets flow.
 *
 * What is new here is only which queues and buckets move where; move.c and bucket.c move them, and
 * keep the order of flows. A carrier is spared once it has none: then its poller finds nothing to
 * do, and needs no policy. The mark is made by a coroutine of the carrier, under haul_io.moving, so
 * no move to it is under way. A carrier in use again has its mark taken off before it gets
 * anything; the coroutine that does it wakes the poller.
 *
 * Tests: tests/net/io_use.c, io_soak.c, fwd_move.py.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/assert.h"
#include "io/bucket.h"
#include "io/idle.h"
#include "io/on_carrier.h"

/* Buckets that move together. More make fewer moves, and hold more packets in each, until the queue
 * is not polled. */
#define HAULI_MOVE_TOGETHER 32u

struct use {
	struct haul_io *io;
	uint64_t timeout_ns;
	char *errbuf;
	size_t errlen;
	struct share {
		bool wanted;
		unsigned here; /* queues of the port, or buckets of the queue */
		unsigned all; /* queues */
	} * shares; /* of each carrier */
	unsigned *carriers; /* of each of the things that are dealt: who gets it */
};

/* What moves: the queues of a port one by one, or the buckets of a queue. */
struct things {
	unsigned port, queue, n;
	const struct hauli_tx_proxy *proxy; /* NULL: queues */
};

static unsigned carrier_of(const struct use *u, const struct things *t, unsigned i)
{
	return hauli_u32_published_get(
		t->proxy ? &t->proxy->carriers[i] : &u->io->owners[t->port][i]);
}

static bool may_have(const struct use *u, const struct things *t, unsigned carrier)
{
	return u->shares[carrier].wanted && (!t->proxy || hauli_bucket_may_go(t->proxy, carrier));
}

/* The wanted carrier that has least of them. There is one. */
static unsigned least(const struct use *u, const struct things *t)
{
	unsigned found = u->io->nb_pollers;

	for (unsigned c = 0; c < u->io->nb_pollers; c++) {
		const struct share *s = &u->shares[c], *best = &u->shares[found];

		if (may_have(u, t, c) &&
			(found == u->io->nb_pollers || s->here < best->here ||
				(s->here == best->here && s->all < best->all)))
			found = c;
	}
	return found;
}

static void give(struct use *u, const struct things *t, unsigned i, unsigned to)
{
	struct share *from = &u->shares[u->carriers[i]];

	from->here--;
	u->shares[to].here++;
	if (!t->proxy) {
		from->all--;
		u->shares[to].all++;
	}
	u->carriers[i] = to;
}

/* Gives away what is with others, and then of those that have more than another by two. */
static void deal(struct use *u, const struct things *t)
{
	for (unsigned c = 0; c < u->io->nb_pollers; c++)
		u->shares[c].here = 0;
	for (unsigned i = 0; i < t->n; i++) {
		u->carriers[i] = carrier_of(u, t, i);
		u->shares[u->carriers[i]].here++;
	}
	for (unsigned i = 0; i < t->n; i++)
		if (!u->shares[u->carriers[i]].wanted)
			give(u, t, i, least(u, t));
	for (unsigned i = t->n; i-- > 0;) {
		unsigned to = least(u, t);

		if (u->shares[u->carriers[i]].here >= u->shares[to].here + 2)
			give(u, t, i, to);
	}
}

/* Moves a bucket, and others that have the same way. */
static int move_buckets(
	const struct use *u, const struct things *t, unsigned first, char *why, size_t len)
{
	bool together[HAUL_IO_BUCKETS] = {false};
	unsigned from = carrier_of(u, t, first), to = u->carriers[first], n = 0;

	for (unsigned i = first; i < t->n && n < HAULI_MOVE_TOGETHER; i++) {
		together[i] = carrier_of(u, t, i) == from && u->carriers[i] == to;
		n += together[i];
	}
	return hauli_move_buckets(
		u->io, t->port, t->queue, together, from, to, u->timeout_ns, why, len);
}

static int move(const struct use *u, const struct things *t, unsigned i, char *why, size_t len)
{
	return t->proxy
		? move_buckets(u, t, i, why, len)
		: hauli_move_queue(u->io, t->port, i, u->carriers[i], u->timeout_ns, why, len);
}

static int deal_and_move(struct use *u, const struct things *t)
{
	char why[160];
	int err = 0;

	deal(u, t);
	for (unsigned i = 0; i < t->n && !err; i++)
		if (u->carriers[i] != carrier_of(u, t, i))
			err = move(u, t, i, why, sizeof(why));
	if (err)
		snprintf(u->errbuf, u->errlen, "haul_io_use: %s", why);
	return err;
}

static int deal_all(struct use *u)
{
	const struct haul_io *io = u->io;
	int err = 0;

	for (unsigned port = 0; port < io->opts.nb_ports && !err; port++) {
		unsigned queues = haul_port_queues(io->ports[port]);
		struct things t = {.port = port, .n = queues};

		if (io->owners[port]) {
			err = deal_and_move(u, &t);
			continue;
		}
		t.n = HAUL_IO_BUCKETS;
		for (unsigned q = 0; q < queues && !err; q++) {
			t.queue = q;
			t.proxy = hauli_proxy_of(io, port, q);
			if (t.proxy)
				err = deal_and_move(u, &t);
		}
	}
	return err;
}

static void count_queues(struct use *u)
{
	const struct haul_io *io = u->io;

	for (unsigned port = 0; port < io->opts.nb_ports; port++)
		for (unsigned q = 0; io->owners[port] && q < haul_port_queues(io->ports[port]); q++)
			u->shares[hauli_u32_published_get(&io->owners[port][q])].all++;
}

/* On the carrier. mark() calls it where the mark is to change. */
static void *change_mark(void *arg)
{
	struct hauli_poller *p = arg;

	hauli_u32_published_set(&p->spared, !hauli_u32_published_get(&p->spared));
	hauli_glue_spare(p->carrier, hauli_u32_published_get(&p->spared));
	hauli_idle_recompute(p);
	return NULL;
}

/* Marks those that are wanted, or those that are not. */
static int mark(struct use *u, bool wanted)
{
	const struct haul_io *io = u->io;
	char why[160];
	int err;

	for (unsigned c = 0; c < io->nb_pollers; c++) {
		struct hauli_poller *p = io->pollers[c];

		if (u->shares[c].wanted != wanted || haul_io_is_used(io, c) == wanted)
			continue;
		err = hauli_on_carrier(p, "use", change_mark, p, u->timeout_ns);
		if (err) {
			hauli_on_carrier_tell(p, err, why, sizeof(why));
			snprintf(u->errbuf, u->errlen, "haul_io_use: %s", why);
			return err;
		}
		(void)haul_carrier_set_stealing(p->carrier, wanted); /* if carriers steal */
	}
	return 0;
}

/* A queue that is spread, and whose carrier is not wanted. */
static bool must_stay(const struct use *u, unsigned carrier)
{
	const struct haul_io *io = u->io;

	for (unsigned port = 0; port < io->opts.nb_ports; port++) {
		if (io->owners[port] || carrier >= haul_port_queues(io->ports[port]))
			continue;
		snprintf(u->errbuf, u->errlen,
			"haul_io_use: port %u has fewer queues than there are pollers, and queue "
			"%u stays with carrier %u, which must be in use",
			port, carrier, carrier);
		return true;
	}
	return false;
}

static int want(struct use *u, const unsigned *carriers, unsigned nb_carriers)
{
	const struct haul_io *io = u->io;

	for (unsigned i = 0; i < nb_carriers; i++) {
		if (carriers[i] >= io->nb_pollers) {
			snprintf(u->errbuf, u->errlen, "haul_io_use: carrier %u has no poller",
				carriers[i]);
			return -EINVAL;
		}
		u->shares[carriers[i]].wanted = true;
	}
	for (unsigned c = 0; c < io->nb_pollers; c++)
		if (!u->shares[c].wanted && must_stay(u, c))
			return -EINVAL;
	return 0;
}

static int use(struct use *u)
{
	int err;

	pthread_mutex_lock(&u->io->moving);
	count_queues(u);
	err = mark(u, true);
	if (!err)
		err = deal_all(u);
	if (!err)
		err = mark(u, false);
	pthread_mutex_unlock(&u->io->moving);
	return err;
}

/* Of a port, or of a queue that is spread. */
static unsigned most_things(const struct haul_io *io)
{
	unsigned most = HAUL_IO_BUCKETS;

	for (unsigned port = 0; port < io->opts.nb_ports; port++)
		if (haul_port_queues(io->ports[port]) > most)
			most = haul_port_queues(io->ports[port]);
	return most;
}

int haul_io_use(struct haul_io *io, const unsigned *carriers, unsigned nb_carriers,
	uint64_t timeout_ns, char *errbuf, size_t errlen)
{
	struct use u = {.io = io, .timeout_ns = timeout_ns, .errbuf = errbuf, .errlen = errlen};
	int err;

	HAUL_MISUSE_IF(!io || (nb_carriers > 0 && !carriers), "io or the carriers are NULL");
	if (haul_carrier_self()) {
		snprintf(errbuf, errlen,
			"haul_io_use: called on a carrier; call it in another thread");
		return -EPERM;
	}
	if (nb_carriers == 0) {
		snprintf(errbuf, errlen, "haul_io_use: no carrier is named");
		return -EINVAL;
	}
	u.shares = calloc(io->nb_pollers, sizeof(u.shares[0]));
	u.carriers = calloc(most_things(io), sizeof(u.carriers[0]));
	if (u.shares && u.carriers) {
		err = want(&u, carriers, nb_carriers);
		if (!err)
			err = use(&u);
	} else {
		snprintf(errbuf, errlen, "haul_io_use: no memory");
		err = -ENOMEM;
	}
	free(u.carriers);
	free(u.shares);
	return err;
}

bool haul_io_is_used(const struct haul_io *io, unsigned carrier)
{
	HAUL_MISUSE_IF(!io, HAULI_NO_IO);
	return carrier < io->nb_pollers && !hauli_u32_published_get(&io->pollers[carrier]->spared);
}
