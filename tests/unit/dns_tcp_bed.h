/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A server of haul-dns over TCP on loopback, and its clients. What a query asks of the test's
 * answer stands in its third and fourth byte, and a number for that in the next four.
 */
#ifndef HAUL_TESTS_DNS_TCP_BED_H
#define HAUL_TESTS_DNS_TCP_BED_H

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>

#include "../../apps/haul-dns/tcp_serve.h"
#include "../../apps/haul-dns/wire.h"
#include "fd_bed.h"
#include "support/stress.h"

enum { MOST = DNS_MESSAGE_MAX, IDLE = 300 /* ms */ };

enum what {
	ECHO, /* the same bytes */
	BIG, /* so many bytes as the number says */
	SILENT, /* none */
	SLOW, /* the same bytes after so many milliseconds, modulo 200 */
	HELD, /* the same bytes once the gate is open, or never */
};

static struct dns_tcp *tcp;
static struct haul_event gate;
static struct hauli_u64_shared answering, answering_most, cancelled;
static struct hauli_u64_shared homes[2]; /* queries by the home of their coroutine */

static inline size_t answer(void *arg, const struct haul_addr *client, uint16_t port,
	const uint8_t *query, size_t len, uint8_t *out, size_t room)
{
	uint32_t number = dns_get32(query + 4);
	uint64_t now;
	int rc = 0;

	if (arg != &gate || port == 0 || client->version == 0 || room != MOST)
		abort();
	hauli_u64_shared_add(&homes[haul_carrier_id(haul_coro_home(haul_self()))], 1);
	hauli_u64_shared_add(&answering, 1);
	now = hauli_u64_shared_get(&answering);
	if (now > hauli_u64_shared_get(&answering_most))
		hauli_u64_shared_set(&answering_most, now);
	memcpy(out, query, len);
	switch (dns_get16(query + 2)) {
	case BIG:
		number = number < len ? (uint32_t)len : number < MOST ? number : MOST;
		memset(out + len, 7, number - len);
		len = number;
		break;
	case SILENT:
		len = 0;
		break;
	case SLOW:
		/* what an upstream takes */
		rc = haul_sleep(number % 200 * HAUL_MS);
		break;
	case HELD:
		rc = haul_event_wait(&gate, HAUL_FOREVER);
		break;
	}
	if (rc == -ECANCELED)
		hauli_u64_shared_add(&cancelled, 1);
	hauli_u64_shared_add(&answering, (uint64_t)-1);
	return len;
}

static inline void serve_at(const char *listen, const struct dns_tcp_opts *opts)
{
	char error[128] = "";

	ck_assert_msg(
		dns_tcp_start(&tcp, rt, listen, opts, answer, &gate, error, sizeof(error)) == 0,
		"%s", error);
	ck_assert_uint_ne(dns_tcp_port(tcp), 0);
}

static inline void begin(int mode, struct dns_tcp_opts opts)
{
	haul_event_reset(&gate);
	answering_most = cancelled = homes[0] = homes[1] = (struct hauli_u64_shared){0};
	start(mode);
	serve_at("127.0.0.1:0", &opts);
}

static inline void end(void)
{
	dns_tcp_stop(tcp);
	ck_assert_uint_eq(hauli_u64_shared_get(&answering), 0);
	stop();
}

static inline struct dns_tcp_stats stats(void)
{
	struct dns_tcp_stats s;

	dns_tcp_get_stats(tcp, &s);
	return s;
}

/* Of the test's thread, or another one: ordinary calls that block, for half a minute at most. */
static inline int connect_from(uint32_t client)
{
	struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr = {htonl(client)}};
	struct sockaddr_in to = {.sin_family = AF_INET,
		.sin_port = htons(dns_tcp_port(tcp)),
		.sin_addr = {htonl(INADDR_LOOPBACK)}};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ASSERT_EACH(fd >= 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){30, 0}, sizeof(struct timeval));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &(struct timeval){30, 0}, sizeof(struct timeval));
	ASSERT_EACH(bind(fd, (struct sockaddr *)&from, sizeof(from)) == 0);
	ASSERT_EACH(connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0);
	return fd;
}

static inline int connect_here(void)
{
	return connect_from(INADDR_LOOPBACK);
}

static inline uint8_t byte_at(size_t i)
{
	return (uint8_t)(i * 5 + (i >> 8));
}

/* With its length in front; returns the bytes of both. */
static inline size_t make(uint8_t *msg, unsigned id, enum what what, uint32_t number, size_t n)
{
	dns_put16(msg, (unsigned)n);
	for (size_t i = 8; i < n; i++)
		msg[2 + i] = byte_at(i);
	if (n >= 2)
		dns_put16(msg + 2, id);
	if (n >= 8) {
		dns_put16(msg + 4, what);
		dns_put32(msg + 6, number);
	}
	return n + 2;
}

static inline bool send_all(int fd, const uint8_t *bytes, size_t n)
{
	while (n > 0) {
		ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL);

		if (sent <= 0)
			return false;
		bytes += sent;
		n -= (size_t)sent;
	}
	return true;
}

static inline bool ask(int fd, unsigned id, enum what what, uint32_t number, size_t n)
{
	uint8_t *msg = malloc(MOST + 2);
	bool is_sent = send_all(fd, msg, make(msg, id, what, number, n));

	free(msg);
	return is_sent;
}

/* Returns the length of the next answer, whose bytes are right, and its id; -1 at the end of the
 * connection, or after a part of an answer. */
static inline ssize_t take(int fd, unsigned *id)
{
	uint8_t prefix[2], *msg = malloc(MOST);
	ssize_t n = recv(fd, prefix, 2, MSG_WAITALL);

	n = n == 2 ? dns_get16(prefix) : -1;
	if (n > 0 && recv(fd, msg, (size_t)n, MSG_WAITALL) != n)
		n = -1;
	for (ssize_t i = 8; i < n; i++)
		if (msg[i] !=
			(dns_get16(msg + 2) == BIG && i >= DNS_HEADER ? 7 : byte_at((size_t)i)))
			abort();
	*id = n > 0 ? dns_get16(msg) : 0;
	free(msg);
	return n;
}

static inline void expect_answer(int fd, unsigned id, size_t n)
{
	unsigned got = 0x10000;
	ssize_t length = take(fd, &got);

	ASSERT_EACH(length == (ssize_t)n);
	ASSERT_EACH(got == id);
}

static inline bool has_ended(int fd)
{
	unsigned id;

	return take(fd, &id) == -1;
}

/* True if the server serves a new client. */
static inline void expect_service(uint32_t client)
{
	int fd = connect_from(client);

	ASSERT_EACH(ask(fd, 77, ECHO, 0, 30));
	expect_answer(fd, 77, 30);
	close(fd);
}

#endif
