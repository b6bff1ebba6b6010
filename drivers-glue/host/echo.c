/* SPDX-License-Identifier: BSD-3-Clause */
/* Echo requests: ping and traceroute. */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/random.h>

#include <rte_byteorder.h>
#include <rte_icmp.h>

#include "base/assert.h"
#include "host/flow.h"
#include "host/flow_send.h"

#define EVERY_NS HAUL_S
#define SENT 16 /* requests whose times are known */
#define TRIES 3 /* for each hop */
#define HOPS_MAX 255
#define NO_HOST "the host is NULL; give what haul_host_create() has given"

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* What an echo request carries: a reply without it is none. */
struct echo {
	uint64_t secret[2];
};

/* Waits for a reply to one of the last requests, of which this is the newest. */
static int wait_for_echo(struct haul_flow *flow, const struct echo *echo, const uint64_t sent[],
	uint16_t last, uint64_t *ns, uint64_t deadline)
{
	struct {
		struct rte_icmp_hdr icmp;
		struct echo echo;
	} __attribute__((packed)) got;
	struct rte_mbuf *pkt;
	int err;

	while ((err = haul_flow_recv(flow, &pkt, deadline)) == 0) {
		int len = hauli_flow_copy(pkt, &got, sizeof(got));
		uint16_t sequence = rte_be_to_cpu_16(got.icmp.icmp_seq_nb);

		if (len < (int)sizeof(got) || sequence > last || last - sequence >= SENT ||
			memcmp(&got.echo, echo, sizeof(*echo)) != 0)
			continue;
		*ns = haul_now() - sent[sequence % SENT];
		return 0;
	}
	return err;
}

static int ping(struct haul_flow *flow, uint64_t *ns, uint64_t deadline)
{
	uint64_t sent[SENT];
	struct hauli_send_opts opts = {0};
	struct echo echo;
	int err;

	if (getrandom(&echo, sizeof(echo), 0) != (ssize_t)sizeof(echo))
		return -ENOMEM;
	do {
		uint64_t until = earlier(deadline, haul_in(EVERY_NS));

		sent[opts.sequence % SENT] = haul_now();
		err = hauli_flow_send_copy(flow, &echo, sizeof(echo), &opts, until);
		if (!err)
			err = wait_for_echo(flow, &echo, sent, opts.sequence, ns, until);
		opts.sequence++;
	} while (err == -ETIMEDOUT && (deadline == HAUL_FOREVER || haul_now() < deadline));
	return err;
}

static uint8_t protocol(const struct haul_addr *to)
{
	return to->version == 6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP;
}

int haul_ping(struct haul_host *host, const struct haul_addr *to, uint64_t *round_trip_ns,
	uint64_t deadline)
{
	struct haul_flow *flow;
	int err;

	HAUL_MISUSE_IF(!host, NO_HOST);
	HAUL_MISUSE_IF(!to || !round_trip_ns, "the address or the place for the time is NULL");
	err = hauli_flow_open(&flow, host, protocol(to), to, 0, NULL);
	if (err)
		return err;
	err = ping(flow, round_trip_ns, deadline);
	haul_flow_close(flow);
	return err;
}

/* Asks for the router that is so many hops away, or the end. 0: *hop says who it is; -ETIMEDOUT;
 * other errors end the search, and *hop may say who has sent one. */
static int ask_hop(struct haul_flow *flow, uint8_t hops, struct haul_hop *hop,
	const struct haul_addr *to, uint64_t deadline)
{
	const struct hauli_send_opts opts = {.hops = hops};
	static const unsigned char data[16];
	struct rte_mbuf *pkt;
	uint64_t sent = haul_now();
	int err = hauli_flow_send_copy(flow, data, sizeof(data), &opts, deadline);

	if (err)
		return err;
	err = hauli_flow_recv(flow, &pkt, &hop->addr, deadline);
	if (err && err != -ETIME)
		return err;
	hop->round_trip_ns = haul_now() - sent;
	if (err == -ETIME)
		return 0;
	rte_pktmbuf_free(pkt);
	hop->addr = *to;
	return 0;
}

/* Each hop has a flow of its own, so that what comes late is none's. */
static int find_hop(struct haul_host *host, const struct haul_addr *to, uint8_t hops,
	struct haul_hop *hop, uint64_t deadline)
{
	struct haul_flow *flow;
	int err = hauli_flow_open(&flow, host, protocol(to), to, 0, NULL);

	if (err)
		return err;
	*hop = (struct haul_hop){0};
	for (unsigned i = 0; i < TRIES; i++) {
		err = ask_hop(flow, hops, hop, to, earlier(deadline, haul_in(EVERY_NS)));
		if (err != -ETIMEDOUT || (deadline != HAUL_FOREVER && haul_now() >= deadline))
			break;
	}
	haul_flow_close(flow);
	return err;
}

int haul_traceroute(struct haul_host *host, const struct haul_addr *to, struct haul_hop *hops,
	unsigned hops_max, uint64_t deadline)
{
	unsigned n = 0;

	HAUL_MISUSE_IF(!host, NO_HOST);
	HAUL_MISUSE_IF(!to || !hops, "the address or the place for the hops is NULL");
	if (hops_max == 0 || hops_max > HOPS_MAX)
		return -EINVAL;
	while (n < hops_max) {
		int err = find_hop(host, to, (uint8_t)(n + 1), &hops[n], deadline);

		if (err &&
			(err != -ETIMEDOUT || (deadline != HAUL_FOREVER && haul_now() >= deadline)))
			return err;
		if (haul_addr_equal(&hops[n++].addr, to))
			break;
	}
	return (int)n;
}
