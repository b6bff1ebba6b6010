/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/ask.h"

#include <errno.h>
#include <stdlib.h>

#include <haul/build.h>

#include "host/config.h"
#include "host/detect.h"
#include "io/state.h"

#define ANNOUNCE_EVERY HAUL_S /* RFC 5227, 2.3: two seconds; RFC 4861, 7.2.6: one */

#define REFILL_EVERY HAUL_S

typedef int message_fn(struct haul_pkt *pkt, struct rte_mbuf *mbuf, const struct haul_head *head);

/* A buffer that was sent is the pool's again, and so the reply finds one. */
static struct rte_mbuf *take_buffer(struct haul_host *host, const struct haul_io *io)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(io->opts.pool);

	if (!m && host->nb_reserve > 0)
		m = host->reserve[--host->nb_reserve];
	return m;
}

static void fill_reserve(struct haul_host *host)
{
	struct haul_io *io = hauli_host_io(host);
	struct rte_mbuf *m;

	while (io && host->nb_reserve < HAULI_HOST_RESERVE &&
		(m = rte_pktmbuf_alloc(io->opts.pool)) != NULL)
		host->reserve[host->nb_reserve++] = m;
}

/* Builds a message and sends it on a port. */
static void say(struct haul_host *host, unsigned port, message_fn *build, struct haul_head *head)
{
	struct hauli_host_port *p = &host->ports[port];
	struct haul_io *io = hauli_host_io(host);
	struct haul_txq *txq = io ? haul_io_txq(io, port, haul_carrier_id(host->carrier)) : NULL;
	struct rte_mbuf *m = txq ? take_buffer(host, io) : NULL;
	struct haul_pkt pkt;

	memcpy(head->src_mac, p->mac, 6);
	if (m && build(&pkt, m, head) == 0 && haul_try_send(txq, m) == 0)
		return;
	rte_pktmbuf_free(m);
	hauli_u64_shared_add(&p->not_sent, 1);
}

static void ask(struct haul_host *host, unsigned port, const struct hauli_question *q)
{
	const struct hauli_own *own = hauli_routes_source(hauli_host_routes(host), port, q->ip);
	struct haul_head head = {.dst = hauli_ip_addr(q->ip)};

	if (!own)
		return; /* the address has been removed */
	head.src = hauli_ip_addr(own->ip);
	if (!q->to_all)
		memcpy(head.dst_mac, q->mac, 6);
	say(host, port, hauli_ip_is_4(q->ip) ? haul_arp_request : haul_nd_solicit, &head);
}

static void announce(struct haul_host *host, unsigned port, struct hauli_ip ip)
{
	struct haul_head head = {.src = hauli_ip_addr(ip)};

	if (hauli_routes_own(hauli_host_routes(host), port, ip))
		say(host, port, hauli_ip_is_4(ip) ? haul_arp_announce : haul_nd_announce, &head);
}

static void probe(struct haul_host *host, unsigned port, struct hauli_ip ip)
{
	static const uint8_t none[16];
	uint8_t version = hauli_ip_is_4(ip) ? 4 : 6;
	struct haul_head head = {.src = haul_addr_from(version, none), .dst = hauli_ip_addr(ip)};

	say(host, port, version == 4 ? haul_arp_request : haul_nd_solicit, &head);
}

/* What is to be done for an address. */
enum task { NOTHING, PROBE, PUBLISH, ANNOUNCE };

/* Under the lock: announcement i is due. */
static enum task begin_task(struct haul_host *host, unsigned i, uint64_t now)
{
	struct hauli_announcement *a = &host->announcements[i];
	enum task task = ANNOUNCE;

	if (a->checks) {
		task = hauli_detect_probes(host, a, now) ? PROBE : PUBLISH;
	} else {
		a->at = now + ANNOUNCE_EVERY;
		a->left--;
	}
	if (a->left == 0)
		*a = host->announcements[--host->nb_announcements];
	return task;
}

/* The next one that is due. NOTHING: none is; *due is lowered to the time of the next one. */
static enum task next_task(
	struct haul_host *host, uint64_t now, struct hauli_announcement *next, uint64_t *due)
{
	struct hauli_announcement *a = host->announcements;
	enum task task = NOTHING;

	pthread_mutex_lock(&host->lock);
	for (unsigned i = 0; i < host->nb_announcements && task == NOTHING; i++) {
		if (a[i].at <= now) {
			*next = a[i];
			task = begin_task(host, i, now);
		} else if (a[i].at < *due) {
			*due = a[i].at;
		}
	}
	pthread_mutex_unlock(&host->lock);
	return task;
}

/* Probes and announces what is due; returns when something is due next. */
static uint64_t see_to_addresses(struct haul_host *host)
{
	struct hauli_announcement next = {0};
	uint64_t due = HAUL_FOREVER;
	enum task task;

	while ((task = next_task(host, haul_now(), &next, &due)) != NOTHING) {
		if (task == PROBE)
			probe(host, next.port, next.ip);
		else if (task == ANNOUNCE)
			announce(host, next.port, next.ip);
		else
			(void)hauli_host_publish(host); /* or the next change does */
	}
	return due;
}

/* Says what is due; returns when something is due next. */
static uint64_t speak(struct haul_host *host)
{
	uint64_t due = see_to_addresses(host);

	for (unsigned i = 0; i < host->opts.nb_ports; i++) {
		struct hauli_neigh *t = host->ports[i].neighbours;
		struct hauli_question q;
		uint64_t at;

		while (hauli_neigh_age(t, haul_now(), &q))
			ask(host, i, &q);
		at = hauli_neigh_due(t);
		due = at < due ? at : due;
	}
	return due;
}

void *hauli_host_ask(void *arg)
{
	struct haul_host *host = arg;
	uint64_t due, refill;

	do {
		haul_event_reset(&host->wake);
		fill_reserve(host);
		due = speak(host);
		refill = host->nb_reserve < HAULI_HOST_RESERVE ? haul_in(REFILL_EVERY) : due;
		due = refill < due ? refill : due;
	} while (haul_event_wait(&host->wake, due) != -ECANCELED);
	rte_pktmbuf_free_bulk(host->reserve, host->nb_reserve);
	host->nb_reserve = 0;
	return NULL;
}
