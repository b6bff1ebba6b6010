/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/flow_send.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "base/assert.h"
#include "host/large.h"
#include "host/neighbour.h"
#include "host/send.h"
#include "io/state.h"

/* Finds the way, and sets the flow's addresses. */
static int prepare(struct haul_flow *flow, struct hauli_out *out, uint64_t deadline)
{
	const struct hauli_flow_key *key = &flow->link.key;
	uint8_t version = hauli_flow_is_ip6(key) ? 6 : 4;
	struct haul_addr dst = haul_addr_from(version, hauli_flow_remote(key));
	struct haul_addr src = haul_addr_from(version, hauli_flow_local(key));
	int err = hauli_host_prepare(flow->host, out, &dst, deadline);

	if (hauli_unlikely(err))
		return err;
	/* The route may have changed since the flow was opened, and the address may be gone. */
	if (hauli_unlikely(!haul_addr_equal(&out->head.src, &src))) {
		if (!hauli_host_has(flow->host, HAUL_ANY, &src))
			return -EADDRNOTAVAIL;
		out->head.src = src;
		out->version = 0; /* it is not what the route says */
	}
	return 0;
}

/* The way that the owner knows; NULL: it does not, or the caller is not at home there. */
static inline struct hauli_out *way(struct haul_flow *flow)
{
	if (hauli_unlikely(!hauli_glue_is_home(flow->owner->carrier)))
		return NULL;
	return hauli_way_find(&flow->owner->ways, flow->host, &flow->link.key);
}

/* Finds it, and keeps it. */
static __attribute__((noinline)) int find_way(
	struct haul_flow *flow, struct hauli_out **out, struct hauli_out *other, uint64_t deadline)
{
	int err;

	*other = (struct hauli_out){0};
	*out = other;
	err = prepare(flow, other, deadline);
	if (!err && hauli_glue_is_home(flow->owner->carrier))
		*out = hauli_way_keep(&flow->owner->ways, &flow->link.key, other);
	return err;
}

static int build(struct haul_flow *flow, struct rte_mbuf *payload, const struct hauli_out *out,
	uint16_t sequence)
{
	const struct hauli_flow_key *key = &flow->link.key;
	struct haul_pkt pkt;

	if (hauli_flow_protocol(key) == IPPROTO_UDP)
		return haul_build_udp(&pkt, payload, &out->head, hauli_flow_local_port(key),
			hauli_flow_remote_port(key), out->offloads);
	return haul_build_echo(&pkt, payload, &out->head, HAUL_ECHO_REQUEST,
		hauli_flow_local_port(key), sequence, out->offloads);
}

static inline void note_use(struct haul_flow *flow)
{
	if (flow->opts.idle_ns)
		hauli_u64_shared_set(&flow->active, haul_now());
}

static __attribute__((noinline)) int send_large(struct haul_flow *flow, const struct hauli_out *out,
	struct rte_mbuf *payload, uint64_t deadline)
{
	const struct hauli_flow_key *key = &flow->link.key;

	if (flow->opts.no_fragments || hauli_flow_protocol(key) != IPPROTO_UDP)
		return -EMSGSIZE;
	return hauli_host_send_large(flow->host, out, payload, hauli_flow_local_port(key),
		hauli_flow_remote_port(key), deadline);
}

int hauli_flow_send(struct haul_flow *flow, struct rte_mbuf *payload,
	const struct hauli_send_opts *opts, uint64_t deadline)
{
	uint32_t len = rte_pktmbuf_pkt_len(payload);
	struct hauli_out *out, other;
	struct haul_txq *txq;
	int err;

	out = way(flow);
	if (hauli_unlikely(!out)) {
		err = find_way(flow, &out, &other, deadline);
		if (err)
			return err;
	}
	out->head.hops = opts->hops;
	out->head.tos = opts->tos;
	err = build(flow, payload, out, opts->sequence);
	if (hauli_unlikely(err && err != -EMSGSIZE))
		return err;
	/* Before the packet is sent: the reply may come to another carrier. */
	if (hauli_likely(out->neigh.slot != HAULI_NO_NEIGH))
		hauli_u64_shared_set(&flow->unanswered, hauli_flow_way(out->port, out->neigh.slot));
	if (hauli_unlikely(err)) {
		err = send_large(flow, out, payload, deadline);
		if (err)
			return err;
		note_use(flow);
		return 0;
	}
	txq = out->txq; /* *out is another way's if this suspends */
	err = hauli_send_whole(out, payload);
	if (hauli_likely(!err))
		err = hauli_send_on(txq, payload, deadline);
	if (hauli_unlikely(err)) {
		hauli_send_undo(payload, len);
		return err;
	}
	note_use(flow);
	return 0;
}

int haul_flow_send(struct haul_flow *flow, struct rte_mbuf *payload, uint64_t deadline)
{
	HAUL_MISUSE_IF(!flow || !payload, "the flow or the payload is NULL");
	return hauli_flow_send(flow, payload,
		&(struct hauli_send_opts){.hops = flow->opts.hops, .tos = flow->opts.tos},
		deadline);
}

/* A payload with a copy of data, in as many mbufs as it takes; NULL: the pool is empty. */
static struct rte_mbuf *make_payload(struct rte_mempool *pool, const char *data, size_t len)
{
	struct rte_mbuf *first = rte_pktmbuf_alloc(pool), *m = first;

	while (m) {
		uint16_t n = (uint16_t)RTE_MIN(len, rte_pktmbuf_tailroom(m));

		memcpy(rte_pktmbuf_append(m, n), data, n);
		if (m != first)
			(void)rte_pktmbuf_chain(first, m);
		data += n;
		len -= n;
		if (len == 0)
			return first;
		m = rte_pktmbuf_alloc(pool);
	}
	rte_pktmbuf_free(first);
	return NULL;
}

int hauli_flow_send_copy(struct haul_flow *flow, const void *data, size_t len,
	const struct hauli_send_opts *opts, uint64_t deadline)
{
	struct rte_mbuf *m;
	int err;

	if (len > UINT16_MAX)
		return -EINVAL;
	m = make_payload(flow->flows->io->opts.pool, data, len);
	if (!m)
		return -ENOMEM;
	err = hauli_flow_send(flow, m, opts, deadline);
	if (err)
		rte_pktmbuf_free(m);
	return err;
}

int hauli_flow_copy(struct rte_mbuf *pkt, void *reply, size_t room)
{
	uint32_t len = rte_pktmbuf_pkt_len(pkt);
	uint32_t n = len < room ? len : (uint32_t)room;
	const void *at = n == 0 ? reply : rte_pktmbuf_read(pkt, 0, n, reply);

	if (at != reply)
		memcpy(reply, at, n);
	rte_pktmbuf_free(pkt);
	return (int)len;
}
