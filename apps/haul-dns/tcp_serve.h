/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clients that come over the kernel's TCP (RFC 7766): a coroutine for each connection, and one for
 * each of its queries, so that a slow answer does not keep back others of the same client.
 *
 * Limits: when there are as many connections as there may be, the one that has waited longest for a
 * query ends in favour of the new one; if all have queries under way, the new one is closed. A
 * client that sends a query too slowly, or one that is too long, or does not take its answers, is
 * thrown out.
 */
#ifndef DNS_TCP_SERVE_H
#define DNS_TCP_SERVE_H

#include <haul/build.h>
#include <haul/runtime.h>

/* Bytes of a query: one question and its options need some hundred. */
enum { DNS_TCP_QUERY_MAX = 4096 };

/* Zeros are the defaults. */
struct dns_tcp_opts {
	uint32_t connections_max; /* of all clients; 0: 1,000 */
	uint32_t per_client_max; /* connections of an IPv4 address, or IPv6 /64; 0: 100 */
	uint32_t queries_max; /* of a connection, under way at once: others are not read; 0: 16 */
	unsigned carriers; /* connections are served by those with lower numbers; 0: by all */
	uint64_t idle_ns; /* to send a query, from the one before, or to take an answer; 0: 10 s */
	int socket; /* that listens, and is closed with the rest; 0: opens its own */
	uint64_t stop_ns; /* for queries under way at the stop, which then are cancelled; 0: 1 s */
};

struct dns_tcp_stats {
	uint64_t connections; /* that were accepted and served */
	uint64_t refused; /* closed at once: too many of the client, or all others are busy */
	uint64_t evicted; /* ended in favour of new ones */
	uint64_t timeouts; /* clients that sent no query, or took no answer, for idle_ns */
	uint64_t malformed; /* queries too short or too long, which end their connection */
	uint64_t queries, answers;
};

/*
 * Writes the answer to a query of len bytes, from a header's to DNS_TCP_QUERY_MAX, and returns its
 * length; 0: none is sent. room is DNS_MESSAGE_MAX. It runs in a coroutine of any carrier, and may
 * suspend. At the stop the coroutine may be cancelled.
 */
typedef size_t dns_tcp_answer(void *arg, const struct haul_addr *client, uint16_t port,
	const uint8_t *query, size_t len, uint8_t *answer, size_t room) HAUL_SUSPENDS;

struct dns_tcp;

/*
 * Listens, on a text as for dns_tcp_listen(). opts may be NULL. Returns 0, or -errno with a line in
 * errbuf that names what is wrong. Any thread.
 */
int dns_tcp_start(struct dns_tcp **tcp, struct haul_runtime *rt, const char *listen,
	const struct dns_tcp_opts *opts, dns_tcp_answer *answer, void *arg, char *errbuf,
	size_t errlen);

/* The port that it listens on, and the socket. Any thread. */
uint16_t dns_tcp_port(const struct dns_tcp *tcp);
int dns_tcp_socket(const struct dns_tcp *tcp);

/* Any thread. */
void dns_tcp_get_stats(const struct dns_tcp *tcp, struct dns_tcp_stats *stats);

/*
 * Accepts no more, takes no more queries, waits until those under way are answered, for stop_ns at
 * most, and frees tcp. A coroutine, or a thread that is no carrier; before haul_stop(). tcp may be
 * NULL.
 */
void dns_tcp_stop(struct dns_tcp *tcp) HAUL_SUSPENDS;

#endif
