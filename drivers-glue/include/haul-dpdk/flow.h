/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flows: conversations over UDP, on the ports of a host (haul-dpdk/host.h). The program begins
 * them:
 *
 *	struct haul_flow *flow;
 *	int err = haul_flow_open(&flow, host, &server, 53, NULL);
 *
 *	if (err)
 *		return err;
 *	err = haul_flow_send(flow, question, haul_in(HAUL_S));
 *	if (err)
 *		rte_pktmbuf_free(question);
 *	else
 *		err = haul_flow_recv(flow, &answer, haul_in(HAUL_S));
 *	haul_flow_close(flow);
 *
 * or in one call, haul_request(); or others do, and each conversation has a function of its own:
 *
 *	static void serve(struct haul_flow *flow, void *arg)
 *	{
 *		struct rte_mbuf *pkt;
 *
 *		while (haul_flow_recv(flow, &pkt, HAUL_FOREVER) == 0)
 *			if (haul_flow_send(flow, pkt, haul_in(HAUL_S)))
 *				rte_pktmbuf_free(pkt);
 *		haul_flow_close(flow);
 *	}
 *	... haul_flow_listen(host, 7, serve, NULL, NULL) ...
 *
 * haul_host_takes() recognises the packets of flows, and puts them
 * into their mailboxes: only those from the address and port that a flow goes to, to its own
 * address and port, which others cannot guess.
 *
 * A flow has a carrier: the home of the coroutine that opened it, which has to have a poller. Its
 * local port is chosen so that replies come to that carrier, where the port's RSS or haul's
 * spreading are known; others are handed over to it. The carrier of a flow that others began is the
 * one to which RSS or spreading bring its packets, or, where these are not known, one by a hash of
 * addresses and ports. Any coroutine may send and receive. The first packet that comes after one
 * was sent confirms the neighbour, as by haul_host_confirm().
 *
 * Deadlines, -EAGAIN, -ETIMEDOUT and -ECANCELED are those of haul/sync.h. After haul_host_stop()
 * all calls return -ECANCELED.
 */
#ifndef HAUL_DPDK_FLOW_H
#define HAUL_DPDK_FLOW_H

#include <haul-dpdk/host.h>
#include <haul/build.h>
#include <haul/sync.h>

#ifdef __cplusplus
extern "C" {
#endif

struct haul_flow;

#define HAUL_FLOW_MAILBOX_MAX 65536

/* Options of a flow. 0 is the default. */
struct haul_flow_opts {
	/* Packets that may wait for haul_flow_recv(): more are dropped, and counted. 0: 16; at most
	 * HAUL_FLOW_MAILBOX_MAX. Each takes 8 bytes, and its buffer. All flows of a carrier have a
	 * limit together, so that the NIC has buffers, too: a quarter of haul_io_opts.pool, divided
	 * by the number of carriers with a poller. If a receiver waits, there is no limit. */
	unsigned mailbox;
	/* The flow ends when nothing has been sent or received for that long, or up to an eighth
	 * longer: haul_flow_recv() then returns what is left, and -EPIPE. 0: it does not end. */
	uint64_t idle_ns;
	uint8_t hops; /* time to live, or hop limit; 0: 64 */
	uint8_t tos; /* type of service, or traffic class */
	bool no_fragments; /* as haul_host_opts.no_fragments, for this flow */
};

/*
 * haul_flow_open: a flow to a port of another host, and a local port for it. Returns 0, and the
 *     caller owns *flow until haul_flow_close(); -EINVAL (options, udp_port 0, or an address to
 *     which no packet can be sent: a group, one of the host, an IPv4-mapped one), -ENETUNREACH (no
 *     route), -EADDRNOTAVAIL (the host has no address of that version on the route's port),
 *     -EADDRINUSE (the carrier has flows to that address and port from all of its local ports),
 *     -EPERM (the caller's home has no poller, or it is no coroutine), -ENOMEM, -ECANCELED.
 *     Suspends a coroutine that was stolen, until it is at home. In any handler.
 * haul_flow_close: frees the flow, with packets that were not received. Nobody uses it any more.
 *     Any thread, before haul_host_free() and before another haul_host_start(). Does not suspend.
 */
HAUL_API int haul_flow_open(struct haul_flow **flow, struct haul_host *host,
	const struct haul_addr *to, uint16_t udp_port,
	const struct haul_flow_opts *opts) HAUL_SUSPENDS;
HAUL_API void haul_flow_close(struct haul_flow *flow);

/*
 * Flows that others begin: the first packet from an address and port to udp_port, at any of the
 * host's addresses, begins a flow with its carrier, and there a coroutine that calls fn(flow, arg);
 * not one from an address that no other host can have, such as a group.
 * fn owns the flow, whose first packet waits in the mailbox, and closes it, or gives it away. The
 * port stays the listener's until haul_host_stop(): that cancels the coroutines, and returns after
 * the last fn has returned.
 */
typedef void haul_flow_fn(struct haul_flow *flow, void *arg);

#define HAUL_LISTEN_FLOWS_MAX 1048576

/* Options of a listener. 0 is the default. */
struct haul_listen_opts {
	/*
	 * Flows of the listener on each carrier. When seven eighths of them are open, each new one
	 * ends the oldest of those that have received a single packet, as if that was idle; a
	 * packet for which there is no place is dropped. Both are counted. So nobody takes more
	 * memory, or ends a conversation. A flood of single packets from ever new addresses does
	 * not keep new clients away, either. One with two packets from each address does, as long
	 * as its flows last (flow.idle_ns): an address of UDP proves nothing, so only the function
	 * can tell such flows from others, and end them. 0: 4,096; at most HAUL_LISTEN_FLOWS_MAX.
	 */
	unsigned flows_max;
	struct haul_flow_opts flow; /* of each flow; but idle_ns 0: 60 s */
	const struct haul_coro_opts *coro; /* of each coroutine; copied. NULL: the defaults */
};

/* After each haul_host_start(). By coroutines, and threads that are no carriers; not in burst
 * handlers. Returns 0; -EINVAL (udp_port is 0, or options); -EADDRINUSE (the port has a listener,
 * or a flow: haul_flow_reserve() keeps flows away from it); -ENOSPC (there are 64 listeners);
 * -ENOMEM; -ECANCELED. */
HAUL_API int haul_flow_listen(struct haul_host *host, uint16_t udp_port, haul_flow_fn *fn,
	void *arg, const struct haul_listen_opts *opts) HAUL_SUSPENDS;

/*
 * haul_flow_send: puts headers in front of payload, an mbuf as haul_build_udp() takes it, and sends
 *     it, on a queue of the caller's home, in fragments if it is larger than the port's MTU; waits
 *     for the neighbour's address and for room in the queue. By coroutines, with deadline 0 in
 *     burst handlers, too. Returns 0, and haul owns the packet; or, and the caller keeps payload:
 *     -EHOSTUNREACH (the neighbour does not answer), -ENETUNREACH, -EADDRNOTAVAIL (the host has
 *     lost the flow's address), -EMSGSIZE (as for haul_host_send_udp()), -EINVAL, -ENOBUFS (no
 *     headroom; no mbuf for a fragment; too many wait for neighbours), -EPERM (the caller's home
 *     has no poller), -EAGAIN, -ETIMEDOUT, -ECANCELED.
 * haul_flow_recv: the oldest packet in the mailbox; waits while there is none. *pkt, which the
 *     caller owns then, begins with the payload. By coroutines, with deadline 0 by any thread.
 *     Returns 0; -ECONNREFUSED, -EHOSTUNREACH, -EMSGSIZE (an ICMP message says that the port is
 *     closed, that packets do not arrive, or are too long; once for each message); -EPIPE (the
 *     flow was idle, or made room for others of its listener); -EAGAIN, -ETIMEDOUT, -ECANCELED.
 * haul_case_flow_send: haul_flow_send() as a case of haul_select(): waits for the neighbour's
 *     address, then for room in the queue, behind those who wait in haul_flow_send(). payload is
 *     the caller's unless the case is done with err 0. err is -EAGAIN, too: an earlier coroutine of
 *     the caller's order key (haul/coro.h) is stolen; only haul_flow_send() waits for it.
 * haul_case_flow_recv: haul_flow_recv() as a case of haul_select(). If it is done with err 0 and
 *     *pkt is NULL, haul_flow_error() returns the error. err is -EPIPE, too, after
 *     haul_host_stop().
 */
HAUL_API int haul_flow_send(
	struct haul_flow *flow, struct rte_mbuf *payload, uint64_t deadline) HAUL_SUSPENDS;
HAUL_API int haul_flow_recv(
	struct haul_flow *flow, struct rte_mbuf **pkt, uint64_t deadline) HAUL_SUSPENDS;
HAUL_API struct haul_case haul_case_flow_send(struct haul_flow *flow, struct rte_mbuf *payload);
HAUL_API struct haul_case haul_case_flow_recv(struct haul_flow *flow, struct rte_mbuf **pkt);
HAUL_API int haul_flow_error(struct haul_flow *flow);

/* The local address and port, and those of the other end. Any thread. Do not suspend. */
HAUL_API struct haul_addr haul_flow_address(const struct haul_flow *flow);
HAUL_API uint16_t haul_flow_port(const struct haul_flow *flow);
HAUL_API struct haul_addr haul_flow_peer_address(const struct haul_flow *flow);
HAUL_API uint16_t haul_flow_peer_port(const struct haul_flow *flow);

/*
 * Local UDP ports that a program's handlers serve themselves, from 1,024 on: no flow gets them.
 * After each haul_host_start(), before flows are opened. All packets to the local port of a flow
 * are taken by haul_host_takes(). Any thread. Does not suspend. Returns 0; -EBUSY (a flow has it);
 * -ECANCELED.
 */
HAUL_API int haul_flow_reserve(struct haul_host *host, uint16_t udp_port);

/* A question over UDP, and its reply. 0 is the default. */
struct haul_request_opts {
	unsigned tries; /* the question is sent so many times; 0: 3 */
	uint64_t first_ns; /* until the second try; then twice as long each time; 0: 1 s */
	/* NULL: the first packet is the reply; else the first one for which this returns true. It
	 * must not suspend, and pkt stays haul's. */
	bool (*is_reply)(void *arg, const struct rte_mbuf *pkt);
	void *arg;
	struct haul_flow_opts flow;
};

/*
 * Sends len bytes to a port of another host from a new local port, waits for the reply, and sends
 * them again if it does not come. An ICMP error, such as that the port is closed, is an answer: the
 * question is not sent again. By coroutines. Returns the length of the reply, of which the first
 * room bytes are in reply; or the errors of haul_flow_open(), haul_flow_send() and
 * haul_flow_recv(); -ETIMEDOUT, too, if no try had a reply; -EINVAL (len is more than UDP allows).
 */
HAUL_API int haul_request(struct haul_host *host, const struct haul_addr *to, uint16_t udp_port,
	const void *data, size_t len, void *reply, size_t room,
	const struct haul_request_opts *opts, uint64_t deadline) HAUL_SUSPENDS;

/* Sends echo requests, one a second, until one is answered: *round_trip_ns is the time from that
 * one to its reply. By coroutines. Returns 0 or the errors of haul_flow_open(), haul_flow_send()
 * and haul_flow_recv(). */
HAUL_API int haul_ping(struct haul_host *host, const struct haul_addr *to, uint64_t *round_trip_ns,
	uint64_t deadline) HAUL_SUSPENDS;

/* The hosts on the way to another one. */
struct haul_hop {
	struct haul_addr addr; /* version 0: did not answer */
	uint64_t round_trip_ns;
};

/* Finds the routers on the way to another host, up to hops_max (1 to 255), by echo requests with
 * hop limits 1, 2, ...: three for each, a second apart. By coroutines. Returns the number of hops,
 * the last of which is `to` if it has answered; -EINVAL; or the errors of haul_ping(), and hops
 * then has those before. -EHOSTUNREACH: a router, too, may say so. */
HAUL_API int haul_traceroute(struct haul_host *host, const struct haul_addr *to,
	struct haul_hop *hops, unsigned hops_max, uint64_t deadline) HAUL_SUSPENDS;

/* Counters of flows. Each is exact; they are not read at one instant. */
struct haul_flow_stats {
	uint64_t open; /* now */
	uint64_t opened; /* by programs and by packets to listeners */
	uint64_t accepted; /* the latter */
	uint64_t evicted; /* of these: ended to make room for others */
	uint64_t received; /* packets put into mailboxes */
	uint64_t errors; /* ICMP messages about flows */
	uint64_t handed_over; /* packets that came to another carrier than the flow's */
	uint64_t idle; /* flows that ended so */
	/* Dropped packets to local ports of flows: */
	uint64_t full; /* the mailbox was full, or those of the carrier together */
	uint64_t refused; /* no place, memory or buffer for another flow of a listener */
	uint64_t strangers; /* not from where the flow goes to, or it was closed, or has ended */
	uint64_t lost; /* too many were being handed over, or the host was stopped meanwhile */
};
/* Copies the counters of one carrier, or the sum of HAUL_ALL, into *st: of the time since the last
 * haul_host_start(). Any thread, not during that call and haul_host_free(). */
HAUL_API void haul_flow_get_stats(
	const struct haul_host *host, unsigned carrier, struct haul_flow_stats *st);

#ifdef __cplusplus
}
#endif

#endif
