/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A host: haul's own end of the network on the ports of an io. It has addresses and routes, answers
 * for its addresses (ARP, neighbour discovery, echo requests), finds out the link-layer addresses
 * of neighbours, and so lets a program send packets of its own.
 *
 *	haul_host_create(&host, &opts, err, sizeof(err));
 *	haul_host_add_address(host, 0, "10.0.0.1/24", err, sizeof(err));
 *	haul_host_add_route(host, "0.0.0.0/0", "10.0.0.254", 0, err, sizeof(err));
 *	... haul_io_start(), with host where handlers find it ...
 *	haul_host_start(host, io, err, sizeof(err));
 *	... haul_host_stop(host), haul_io_stop(), haul_io_free(), haul_host_free(host) ...
 *
 * Handlers begin with haul_host_takes(). Addresses and routes may change while packets flow.
 *
 * Calls that change the host are made by threads that are no carriers, or by coroutines; where a
 * comment says nothing else, they do not suspend. Deadlines, -EAGAIN, -ETIMEDOUT and -ECANCELED are
 * those of haul/sync.h.
 *
 * An IPv4-mapped address of IPv6, ::ffff:10.0.0.1, is no address of a host: it is no name for the
 * IPv4 address, in no call and no packet.
 */
#ifndef HAUL_DPDK_HOST_H
#define HAUL_DPDK_HOST_H

#include <haul-dpdk/fragment.h>
#include <haul-dpdk/io.h>
#include <haul/build.h>

#ifdef __cplusplus
extern "C" {
#endif

struct haul_host;

/* Options of a host. 0 is the default. */
struct haul_host_opts {
	unsigned nb_ports; /* those of haul_io_opts.ports; 0: 1 */
	/* Neighbours of a port. A table has this size from the start: nothing that arrives lets it
	 * grow. At most half of it are addresses that have been asked for and have not answered.
	 * 0: 1,024; at most 1,048,576. */
	unsigned neighbours_max;
	/* Coroutines that wait for neighbours of a port, and for one of them. 0: 65,536. */
	unsigned waiters_max;
	unsigned addresses_max; /* of the host; 0: 64 */
	unsigned routes_max; /* of the host, without those of its addresses; 0: 1,024 */
	/*
	 * Times, in ns, and numbers of RFC 4861, which count for ARP, too.
	 */
	uint64_t reachable_ns; /* mean time for which an answer counts; 0: 30 s */
	uint64_t delay_ns; /* from the use of an older one until it is asked again; 0: 5 s */
	uint64_t retrans_ns; /* between two questions; 0: 1 s */
	uint64_t failed_ns; /* one that has not answered is not asked again; 0: 1 s */
	unsigned tries; /* questions until a neighbour counts as failed; 0: 3 */
	unsigned announcements; /* of an address that was added, a second apart; 0: 2 */
	/* An address that was added is used when nobody has answered to questions about it: for
	 * IPv4 after 4 to 7 s (RFC 5227), for IPv6 after 1 to 2 s (RFC 4862). One that another host
	 * has stays unused until it is removed. Not for anycast. */
	bool detect_duplicates;
	bool no_echo; /* leaves echo requests to the handler */
	bool no_fragments; /* datagrams larger than the port's MTU are refused: -EMSGSIZE */
};

/* Returns 0, and the caller owns *host until haul_host_free(); -EINVAL (options) or -ENOMEM, with
 * one line in errbuf. Any thread. */
HAUL_API int haul_host_create(
	struct haul_host **host, const struct haul_host_opts *opts, char *errbuf, size_t errlen);

/*
 * haul_host_start: from now on the host uses the ports of io, which runs: a coroutine of the host,
 *     "host", announces its addresses, asks for neighbours and lets them age. Returns 0; -EINVAL
 *     (io has other ports), -ENODEV (a port is empty: its address is not known), -EBUSY
 *     (started before), -ENOMEM or -ECANCELED, with one line in errbuf.
 * haul_host_stop: ends what the host does, before haul_io_stop(): all that waits for neighbours
 *     ends with -ECANCELED. The host may be started again, with its addresses and routes, and no
 *     neighbours. Suspends a coroutine, blocks a thread.
 * haul_host_free: after haul_host_stop() and haul_io_stop(), while no handler uses host.
 * Any thread or coroutine, one at a time; not in burst handlers.
 */
HAUL_API int haul_host_start(
	struct haul_host *host, struct haul_io *io, char *errbuf, size_t errlen) HAUL_SUSPENDS;
HAUL_API void haul_host_stop(struct haul_host *host) HAUL_SUSPENDS;
HAUL_API void haul_host_free(struct haul_host *host);

/*
 * Addresses of a port, and routes, before or after haul_host_start(). An address is one with the
 * length of its network's prefix, "10.0.0.1/24" or "fd00::1/64": what is in that prefix is reached
 * directly. A route names its destinations, "0.0.0.0/0" or "fd00:1::/48", and the gateway, an
 * address that is reached directly, or NULL if the destinations are. The longest prefix counts.
 * A change is complete when the call returns: no carrier uses what was before it. Suspends a
 * coroutine, blocks a thread.
 * Return 0, or with one line in errbuf: -EINVAL (not an address; no such port; a gateway that is
 * not reached directly over the port), -EADDRNOTAVAIL (not an address of a host), -EEXIST (there is
 * one like it), -ENOENT (there is none to remove), -ENOSPC (the number is at its maximum), -ENOMEM.
 */
HAUL_API int haul_host_add_address(struct haul_host *host, unsigned port, const char *address,
	char *errbuf, size_t errlen) HAUL_SUSPENDS;
HAUL_API int haul_host_remove_address(struct haul_host *host, unsigned port, const char *address,
	char *errbuf, size_t errlen) HAUL_SUSPENDS;
HAUL_API int haul_host_add_route(struct haul_host *host, const char *to, const char *gateway,
	unsigned port, char *errbuf, size_t errlen) HAUL_SUSPENDS;
HAUL_API int haul_host_remove_route(
	struct haul_host *host, const char *to, char *errbuf, size_t errlen) HAUL_SUSPENDS;

/*
 * Adds to a port the addresses of an interface of the kernel that are in use, and the routes by it
 * in the main table, as far as the host can have them; those that it has are left as they are. For
 * a port that receives in the kernel's place: AF_XDP, AF_PACKET; haul_port_nic() is its interface.
 * The addresses of a TAP interface are those of a neighbour. Once: later changes of the kernel's
 * are not seen. Makes system calls. Returns the number of addresses that were added, or, with one
 * line in errbuf, what has been added remains, and: -ENODEV (no such interface), -EINVAL (no such
 * port), -ENOSPC, -ENOMEM, or another -errno of a socket.
 */
HAUL_API int haul_host_read_kernel(struct haul_host *host, unsigned port, const char *interface,
	char *errbuf, size_t errlen) HAUL_SUSPENDS;

/*
 * The first call of a handler. True: the packet was one for the host, and is gone: a question about
 * its addresses or an echo request, which it answers on rx->reply; what neighbours say about
 * theirs. False: the packet is the handler's, and has not changed, but for Ethernet's padding,
 * which may be trimmed off. Suspends in coroutine handlers, as haul_send() does; not in burst
 * handlers. False before haul_host_start() and after haul_host_stop().
 */
HAUL_API bool haul_host_takes(
	struct haul_host *host, struct haul_rx *rx, struct rte_mbuf *pkt) HAUL_SUSPENDS;

/*
 * haul_net_for_us() of the host: checks that a packet which haul_host_takes() has left is addressed
 * to the port's MAC address and to an address of the host on that port, and that its source is not
 * one of the host's, nor a group. OK: *nif gets that address, for haul_udp_reply(). Returns OK,
 * NOT_FOR_US or MALFORMED. Any handler. Does not suspend.
 */
HAUL_API enum haul_verdict haul_host_for_us(struct haul_host *host, const struct haul_rx *rx,
	const struct haul_pkt *pkt, struct haul_net_if *nif);

/*
 * Before haul_host_takes(), if the program takes fragments: gives *pkt to the table if it is a
 * fragment for an address of the host. True: it waits there for others, or has been dropped. False:
 * *pkt is a packet, as it was, or one that is whole now, in several segments, such as an echo
 * request, which haul_host_takes() answers in fragments. Any handler. Does not suspend.
 */
HAUL_API bool haul_host_reassemble(struct haul_host *host, struct haul_reassembly *table,
	struct haul_rx *rx, struct rte_mbuf **pkt);

/*
 * The link-layer address of next_hop, a neighbour on a port: from the table, or by asking for it,
 * and waiting until the deadline. With deadline 0 it asks, and does not wait: in any handler; else
 * by coroutines. Returns 0; -EHOSTUNREACH (it has not answered); -ENOBUFS (too many are being
 * asked for, or too many wait); -EINVAL (not an address that a neighbour can have, or the port has
 * no address of that version); -EAGAIN, -ETIMEDOUT, -ECANCELED.
 */
HAUL_API int haul_host_neighbour(struct haul_host *host, unsigned port,
	const struct haul_addr *next_hop, uint8_t mac[6], uint64_t deadline) HAUL_SUSPENDS;

/* The neighbour has just been heard from, as a reply to something sent to it: no question is
 * necessary for a while. For protocols above. Any handler. Does not suspend. */
HAUL_API void haul_host_confirm(
	struct haul_host *host, unsigned port, const struct haul_addr *next_hop);

/*
 * Sends a datagram from the host: payload is an mbuf that holds nothing else, in one or several
 * segments, with headroom for headers (haul/build.h). Finds the route and the neighbour, for which
 * it waits until the deadline, and the source address: no packet leaves with an address that is not
 * the host's. What is larger than the port's MTU leaves in fragments, in mbufs of
 * haul_io_opts.pool; other packets tell routers to make none. Where a port cannot send segments,
 * they are put into the first one.
 * With deadline 0 it waits for nothing, not for room in the transmit queue either: in any handler;
 * else by coroutines of carriers with a poller, and a full queue is waited for as by haul_send().
 * The packet leaves on a queue of the caller's home.
 * Returns 0; or, and payload is the caller's, with the same bytes, though some of its fragments may
 * have left: errors of haul_host_neighbour(); -ENETUNREACH (no route); -EADDRNOTAVAIL (the host has
 * no address there); -EINVAL (a group, a broadcast, the host itself, or a link-local address if
 * several ports have such); -EMSGSIZE (more than UDP or HAUL_FRAGMENTS_MAX allow, or, with
 * no_fragments, than the MTU); -ENOBUFS (not enough headroom, or room in the first segment; no mbuf
 * for a fragment; with deadline 0 a full queue), -EAGAIN (the same for fragments); -EPERM (the
 * caller's carrier has no poller).
 */
HAUL_API int haul_host_send_udp(struct haul_host *host, struct rte_mbuf *payload,
	const struct haul_addr *dst, uint16_t src_port, uint16_t dst_port,
	uint64_t deadline) HAUL_SUSPENDS;

enum haul_address_state {
	HAUL_ADDRESS_NONE, /* not an address of the host on that port */
	HAUL_ADDRESS_TENTATIVE, /* with haul_host_opts.detect_duplicates: not known yet */
	HAUL_ADDRESS_VALID,
	HAUL_ADDRESS_DUPLICATE, /* another host has it */
};
/* What has become of an address of the host. Any thread. Does not suspend. */
HAUL_API enum haul_address_state haul_host_address_state(
	struct haul_host *host, unsigned port, const struct haul_addr *address);

/* Counters of a port. Each is exact; they are not read at one instant. */
struct haul_host_stats {
	uint64_t neighbours, waiters; /* now */
	uint64_t asked; /* questions sent */
	uint64_t answered; /* questions of others answered, and echo requests */
	uint64_t learned; /* neighbours that have answered */
	uint64_t changed; /* neighbours that have got another link-layer address */
	uint64_t failed; /* neighbours that have not answered */
	uint64_t refused; /* -ENOBUFS */
	uint64_t evicted; /* neighbours that made room */
	uint64_t ignored; /* answers to no question */
	uint64_t duplicates; /* packets of others that claim an address of the host */
	uint64_t not_sent; /* questions and announcements for which there was no packet or room */
};
/* Copies the counters of a port, or the sum of HAUL_ALL, into *st. Any thread. */
HAUL_API void haul_host_get_stats(
	struct haul_host *host, unsigned port, struct haul_host_stats *st);

enum haul_neighbour_state {
	HAUL_NEIGHBOUR_NONE,
	HAUL_NEIGHBOUR_INCOMPLETE, /* asked for the first time */
	HAUL_NEIGHBOUR_REACHABLE,
	HAUL_NEIGHBOUR_STALE, /* not heard from for a while; used all the same */
	HAUL_NEIGHBOUR_DELAY, /* used since it is stale */
	HAUL_NEIGHBOUR_PROBE, /* asked again */
	HAUL_NEIGHBOUR_FAILED,
};
/* "none", "incomplete", "reachable", ... Any thread. Does not suspend. */
HAUL_API const char *haul_neighbour_state_name(enum haul_neighbour_state state);
/* The state of a neighbour, as for `ip neigh`, and its link-layer address unless INCOMPLETE or
 * FAILED. Any thread. Does not suspend. */
HAUL_API enum haul_neighbour_state haul_host_look(
	struct haul_host *host, unsigned port, const struct haul_addr *next_hop, uint8_t mac[6]);

#ifdef __cplusplus
}
#endif

#endif
