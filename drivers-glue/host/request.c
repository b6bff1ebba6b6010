/* SPDX-License-Identifier: BSD-3-Clause */
/* A question over UDP and its reply, in one call. */
#include <errno.h>
#include <netinet/in.h>

#include "base/assert.h"
#include "host/flow.h"
#include "host/flow_send.h"

#define TRIES 3
#define FIRST_NS HAUL_S
#define NO_HOST "the host is NULL; give what haul_host_create() has given"

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Waits for the reply to a question. */
static int wait_for_reply(struct haul_flow *flow, const struct haul_request_opts *opts, void *reply,
	size_t room, uint64_t deadline)
{
	struct rte_mbuf *pkt;
	int err;

	while ((err = haul_flow_recv(flow, &pkt, deadline)) == 0) {
		if (!opts->is_reply || opts->is_reply(opts->arg, pkt))
			return hauli_flow_copy(pkt, reply, room);
		rte_pktmbuf_free(pkt);
	}
	return err;
}

static int ask(struct haul_flow *flow, const void *data, size_t len, void *reply, size_t room,
	const struct haul_request_opts *opts, uint64_t deadline)
{
	const struct hauli_send_opts send = {.hops = opts->flow.hops, .tos = opts->flow.tos};
	unsigned tries = opts->tries ? opts->tries : TRIES;
	uint64_t ns = opts->first_ns ? opts->first_ns : FIRST_NS;
	int n = -ETIMEDOUT;

	for (unsigned i = 0; i < tries && n == -ETIMEDOUT; i++) {
		uint64_t until = earlier(deadline, haul_in(ns));

		n = hauli_flow_send_copy(flow, data, len, &send, until);
		if (n == 0)
			n = wait_for_reply(flow, opts, reply, room, until);
		if (until == deadline)
			break;
		ns = ns < HAUL_FOREVER / 2 ? 2 * ns : ns;
	}
	return n;
}

int haul_request(struct haul_host *host, const struct haul_addr *to, uint16_t udp_port,
	const void *data, size_t len, void *reply, size_t room,
	const struct haul_request_opts *opts, uint64_t deadline)
{
	static const struct haul_request_opts defaults;
	struct haul_flow *flow;
	int n;

	HAUL_MISUSE_IF(!host, NO_HOST);
	HAUL_MISUSE_IF(!to || (!data && len) || (!reply && room),
		"the address, the data or the place for the reply is NULL");
	if (!opts)
		opts = &defaults;
	if (udp_port == 0)
		return -EINVAL;
	n = hauli_flow_open(&flow, host, IPPROTO_UDP, to, udp_port, &opts->flow);
	if (n)
		return n;
	n = ask(flow, data, len, reply, room, opts, deadline);
	haul_flow_close(flow);
	return n;
}
