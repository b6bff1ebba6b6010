/* SPDX-License-Identifier: BSD-3-Clause */
/* The bed of tests of flows: a host on a port of a test, in virtual time, and the other side of the
 * network, which answers for all addresses, as the packets that it gets ask for. */
#ifndef FLOW_BED_H
#define FLOW_BED_H

#include <haul-dpdk/flow.h>
#include <haul-dpdk/test.h>
#include <haul/haul.h>

#include "support/suite.h"

#define CARRIERS 3u
#define SILENT 250 /* last byte of the address of a host that answers nothing, ARP neither */
#define FAR \
	240 /* the same of one that is behind FAR_HOPS - 1 routers, of which the third is silent */
#define FAR_HOPS 5
#define SERVER 53 /* port */

extern struct haul_test *flow_test;
extern struct haul_host *flow_host;
extern const char *flow_wrong; /* what was wrong first; NULL: nothing */
extern const char *const flow_peers[2]; /* an address of IPv4, and of IPv6 */
extern uint8_t flow_sent_to[6]; /* Ethernet address of the last datagram */

/* In the body of a test: check's macros cannot jump out of a coroutine. */
#define FAIL_UNLESS(condition)                                                          \
	do {                                                                            \
		if (!(condition)) {                                                     \
			if (!flow_wrong)                                                \
				flow_wrong = #condition;                                \
			fprintf(stderr, "%s:%d: %s\n", __func__, __LINE__, #condition); \
			return;                                                         \
		}                                                                       \
	} while (0)

enum what {
	REPLY, /* the same packet comes back */
	NOTHING,
	TWICE,
	FORGED, /* packets that differ in one thing each, and then the reply */
	REFUSED, /* ICMP: the port is closed */
	UNREACHABLE, /* ICMP, from a router */
	TOO_BIG,
	CUT, /* ICMP that quotes too little */
	WHATS,
	EXCEEDED = WHATS, /* ICMP, from a router: too many hops */
	BOTH, /* a reply, and that the port is closed */
};

/* What a packet of a test asks the network to do. */
struct order {
	uint64_t delay; /* ns */
	uint32_t what, number;
	uint32_t carrier; /* on which the reply comes; HAUL_ANY: by its flow */
	uint32_t times; /* replies; 0: 1 */
};

/* Runs a test in a coroutine on carrier 0; the handler is a function of bursts, or a coroutine for
 * each packet. Fails if something was wrong, or packets are left. */
void flow_run(void (*test)(void), bool bursts);

struct haul_addr flow_addr(const char *text);
struct haul_flow_stats flow_stats(void); /* of all carriers */

/* A flow to port SERVER of that address. An error of haul_flow_open(). */
int flow_open(struct haul_flow **flow, const char *to, const struct haul_flow_opts *opts);
/* Sends an order. An error of haul_flow_send(). */
int flow_say(struct haul_flow *flow, struct order o);
/* The number of the next reply, or an error of haul_flow_recv(). */
int flow_number(struct haul_flow *flow, uint64_t deadline);

/* The other side as the one that begins. Gets and owns all datagrams that the host sends, instead
 * of the network; NULL: none. */
extern void (*flow_on_datagram)(struct rte_mbuf *m, const struct haul_pkt *pkt);
/* Packets of UDP and ICMP that the host has left to the handler. Any carrier. */
extern unsigned flow_left;
/* A datagram from there to a port of the host, on a carrier, or HAUL_ANY: by its flow. -ENOMEM:
 * there is no mbuf. */
int flow_begin(const struct haul_addr *from, uint16_t from_port, uint16_t port, const void *data,
	size_t len, uint32_t carrier);
/* An ICMP message about m, a packet of the host: REFUSED, UNREACHABLE, TOO_BIG. */
void flow_icmp(struct rte_mbuf *m, enum what what, uint32_t carrier);

#endif
