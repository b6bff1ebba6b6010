/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A send as a case of haul_select(). It is tried, without a wait, before the select looks at its
 * other cases. If that does not do, the case waits for what is missing first: the event of the
 * neighbour, or one that the transmit queue sets when it has room. Then it is tried again; there
 * may be something else to wait for, or somebody was quicker, and so the select waits once more
 * (sync/select.c: `attempt`). The packet is the caller's until a try has sent it.
 *
 * Everything but the tries happens at the caller's home, whose queue it is.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/assert.h"
#include "host/flow_send.h"
#include "host/neighbour.h"
#include "host/send.h"
#include "net/txq.h"
#include "sync/case.h"
#include "sync/event.h"

/* What a case waits for. One of the two. */
struct wait {
	struct hauli_neigh *neighbours; /* NULL: for room */
	uint32_t entry;

	struct haul_txq *txq;
	struct hauli_txq_watch watch;
	struct haul_event room;
};

static struct haul_flow *flow_of(const struct hauli_case *cs)
{
	return cs->own[0];
}

static bool attempt(struct hauli_case *cs)
{
	cs->err = haul_flow_send(flow_of(cs), cs->waiter.value, 0);
	return cs->err != -EAGAIN;
}

/* 0: the event is set when the neighbour has answered, or fails. -EAGAIN: it is known. */
static int wait_for_neighbour(struct hauli_case *cs, struct wait *w, struct haul_host *host,
	unsigned port, const struct haul_addr *next_hop)
{
	struct hauli_neigh *t = host->ports[port].neighbours;
	struct hauli_ip ip = hauli_ip_of_addr(next_hop);
	uint8_t mac[6];
	struct hauli_neigh_seen seen;
	int err;

	if (hauli_neigh_find(t, ip, mac, &seen))
		return -EAGAIN;
	err = hauli_neigh_use(t, ip, haul_now(), mac, &w->entry);
	if (err != -EAGAIN)
		return err ? err : -EAGAIN;
	w->neighbours = t;
	cs->q = (struct hauli_waitq *)hauli_neigh_event(t, w->entry);
	/* If there is an answer, the event is set, or about to be. */
	(void)hauli_neigh_look(t, w->entry, mac);
	return 0;
}

static int wait_for_room(
	struct hauli_case *cs, struct wait *w, struct haul_host *host, unsigned port)
{
	w->txq = hauli_host_txq(host, port);
	if (!w->txq)
		return -EPERM;
	w->watch.room = &w->room;
	cs->q = (struct hauli_waitq *)&w->room;
	return hauli_txq_watch(w->txq, &w->watch);
}

static int wait_for_what_is_missing(struct hauli_case *cs, struct wait *w)
{
	struct haul_host *host = flow_of(cs)->host;
	struct haul_addr next_hop, src, dst = haul_flow_peer_address(flow_of(cs));
	unsigned port;
	int err = hauli_host_route(host, &dst, &port, &next_hop, &src);

	if (!err)
		err = wait_for_neighbour(cs, w, host, port, &next_hop);
	return err == -EAGAIN ? wait_for_room(cs, w, host, port) : err;
}

static void wait_no_more(struct hauli_case *cs)
{
	struct wait *w = cs->own[1];

	if (w->neighbours)
		hauli_neigh_leave(w->neighbours, w->entry);
	else if (w->txq)
		hauli_txq_watch_no_more(w->txq, &w->watch);
	free(w);
	cs->own[1] = NULL;
	cs->q = NULL;
}

static int begins(struct hauli_case *cs, struct haul_carrier *c)
{
	struct wait *w = calloc(1, sizeof(*w));
	int err;

	(void)c;
	if (!w)
		return -ENOMEM;
	cs->own[1] = w;
	err = wait_for_what_is_missing(cs, w);
	if (err)
		wait_no_more(cs);
	return err;
}

static void ends(struct hauli_case *cs, struct haul_carrier *c)
{
	(void)c;
	wait_no_more(cs);
}

struct haul_case haul_case_flow_send(struct haul_flow *flow, struct rte_mbuf *payload)
{
	static const struct hauli_case_kind kind = {hauli_event_try_case, hauli_waitq_own_list,
		hauli_crowd_leave, hauli_crowd_serve_rest, attempt, begins, ends};
	struct haul_case cs = hauli_case(&kind, NULL, payload);

	HAUL_MISUSE_IF(!flow || !payload, "the flow or the payload is NULL");
	((struct hauli_case *)&cs)->own[0] = flow;
	return cs;
}
