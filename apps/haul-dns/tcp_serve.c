/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_serve.h"

#include <errno.h>
#include <haul/fd.h>
#include <haul/scope.h>
#include <haul/sync.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "conc/word.h"
#include "tcp_address.h"
#include "tcp_listen.h"
#include "tcp_message.h"
#include "wire.h"

enum { CONNECTIONS = 1000, PER_CLIENT = 100, QUERIES = 16, BUCKETS = 1024 };

/* Its queries' coroutines and its own have one home, but may be stolen, and the acceptor and the
 * stop look at it. */
struct conn {
	struct dns_tcp *tcp;
	int fd;
	uint16_t port;
	struct haul_addr client;
	struct haul_mutex sends; /* one answer at a time */
	struct haul_sem room; /* a unit for each query more that may be under way */
	/* Of tcp->lock: */
	struct haul_coro *co;
	unsigned under_way; /* queries */
	bool ends; /* whoever set it has shut the socket down */
	TAILQ_ENTRY(conn) order;
	LIST_ENTRY(conn) in_bucket;
};

TAILQ_HEAD(conns, conn);
LIST_HEAD(bucket, conn);

struct counts {
	struct hauli_u64_shared connections, refused, evicted, timeouts, malformed, queries,
		answers;
};

struct dns_tcp {
	struct haul_runtime *rt;
	struct dns_tcp_opts opts;
	dns_tcp_answer *answer;
	void *arg;
	int fd;
	uint16_t port;
	struct haul_coro *acceptor;
	unsigned next; /* carrier for a connection; of the acceptor */
	struct counts counts;
	struct haul_sem slots; /* a unit for each connection more that there may be */
	struct haul_mutex lock;
	/* Of lock. Those that wait for a query, the one that has waited longest first; others. */
	struct conns idle, busy;
	struct bucket clients[BUCKETS];
};

struct query {
	struct conn *conn;
	size_t n;
	uint8_t msg[];
};

/* A client with an address of IPv6 has a /64. */
static size_t client_size(const struct haul_addr *client)
{
	return client->version == 4 ? 4 : 8;
}

static bool is_same_client(const struct haul_addr *a, const struct haul_addr *b)
{
	return a->version == b->version && memcmp(a->bytes, b->bytes, client_size(a)) == 0;
}

/* A client with many networks can have all connections in one bucket: a walk of microseconds. */
static struct bucket *bucket_of(struct dns_tcp *t, const struct haul_addr *client)
{
	uint64_t word = dns_load64(client->bytes);

	return &t->clients[word * UINT64_C(0x9e3779b97f4a7c15) >> 54];
}

_Static_assert(BUCKETS == 1 << (64 - 54), "bits of the product");

static unsigned count_client(struct dns_tcp *t, const struct haul_addr *client)
{
	unsigned n = 0;

	haul_mutex_lock(&t->lock);
	for (struct conn *c = LIST_FIRST(bucket_of(t, client)); c; c = LIST_NEXT(c, in_bucket))
		n += is_same_client(&c->client, client);
	haul_mutex_unlock(&t->lock);
	return n;
}

static void begin_query(struct conn *c)
{
	struct dns_tcp *t = c->tcp;

	haul_mutex_lock(&t->lock);
	if (c->under_way++ == 0 && !c->ends) {
		TAILQ_REMOVE(&t->idle, c, order);
		TAILQ_INSERT_TAIL(&t->busy, c, order);
	}
	haul_mutex_unlock(&t->lock);
	hauli_u64_shared_add(&t->counts.queries, 1);
}

static void end_query(struct conn *c)
{
	struct dns_tcp *t = c->tcp;

	haul_mutex_lock(&t->lock);
	if (--c->under_way == 0 && !c->ends) {
		TAILQ_REMOVE(&t->busy, c, order);
		TAILQ_INSERT_TAIL(&t->idle, c, order);
	}
	haul_mutex_unlock(&t->lock);
	haul_sem_post(&c->room);
}

/* Under the lock. */
static void end_conn(struct dns_tcp *t, struct conn *c, int how)
{
	if (!c->ends && c->under_way == 0) {
		TAILQ_REMOVE(&t->idle, c, order);
		TAILQ_INSERT_TAIL(&t->busy, c, order);
	}
	c->ends = true;
	shutdown(c->fd, how);
}

static int send_answer(struct conn *c, const uint8_t *answer, size_t n)
{
	uint64_t deadline = haul_in(c->tcp->opts.idle_ns);
	int rc = haul_mutex_lock_by(&c->sends, deadline);

	if (rc < 0)
		return rc;
	rc = dns_tcp_send(c->fd, answer, n, deadline);
	/* A part of it is sent, perhaps: nothing can follow. */
	if (rc < 0)
		shutdown(c->fd, SHUT_RDWR);
	haul_mutex_unlock(&c->sends);
	return rc;
}

/* A coroutine. */
static int answer_query(void *arg)
{
	struct query *q = arg;
	struct conn *c = q->conn;
	struct dns_tcp *t = c->tcp;
	uint8_t *answer = malloc(DNS_MESSAGE_MAX), *less;
	size_t n = 0;
	int rc = 0;

	if (answer)
		n = t->answer(t->arg, &c->client, c->port, q->msg, q->n, answer, DNS_MESSAGE_MAX);
	free(q);
	if (n > 0) {
		/* For a client that does not read its answer, only the answer is kept. */
		less = realloc(answer, n);
		answer = less ? less : answer;
		rc = send_answer(c, answer, n);
	}
	free(answer);
	end_query(c);
	if (n > 0 && rc == 0)
		hauli_u64_shared_add(&t->counts.answers, 1);
	else if (rc == -ETIMEDOUT)
		hauli_u64_shared_add(&t->counts.timeouts, 1);
	return 0;
}

/* Returns 0 or an error, after which the connection ends. */
static int receive_query(struct conn *c, struct query **query)
{
	struct dns_tcp *t = c->tcp;
	uint64_t deadline = haul_in(t->opts.idle_ns);
	uint8_t prefix[DNS_TCP_PREFIX];
	struct query *q;
	size_t n;
	int rc = dns_tcp_receive(c->fd, prefix, DNS_TCP_PREFIX, deadline);

	if (rc < 0)
		return rc;
	n = dns_get16(prefix);
	if (n < DNS_HEADER || n > DNS_TCP_QUERY_MAX)
		return -EBADMSG;
	/* The memory of what is announced and never sent is not touched. */
	q = malloc(sizeof(*q) + n);
	if (!q)
		return -ENOMEM;
	*q = (struct query){c, n};
	rc = dns_tcp_receive(c->fd, q->msg, n, deadline);
	if (rc < 0)
		free(q);
	else
		*query = q;
	return rc;
}

static void take_queries(struct conn *c)
{
	static const struct haul_coro_opts opts = {.name = "tcp query"};
	struct counts *counts = &c->tcp->counts;
	struct query *q;
	int rc;

	HAUL_SCOPE(queries, HAUL_FOREVER, HAUL_SCOPE_ALL);
	while ((rc = haul_sem_wait(&c->room, HAUL_FOREVER)) == 0) {
		rc = receive_query(c, &q);
		if (rc < 0)
			break;
		begin_query(c);
		rc = haul_scope_spawn(&queries, answer_query, q, &opts);
		if (rc < 0) {
			free(q);
			end_query(c);
			break;
		}
	}
	if (rc == -ETIMEDOUT)
		hauli_u64_shared_add(&counts->timeouts, 1);
	else if (rc == -EBADMSG)
		hauli_u64_shared_add(&counts->malformed, 1);
	haul_scope_join(&queries);
}

static void *serve(void *arg)
{
	struct conn *c = arg;
	struct dns_tcp *t = c->tcp;

	take_queries(c);
	haul_mutex_lock(&t->lock);
	TAILQ_REMOVE(c->ends ? &t->busy : &t->idle, c, order);
	LIST_REMOVE(c, in_bucket);
	haul_mutex_unlock(&t->lock);
	haul_fd_close(c->fd);
	free(c);
	haul_sem_post(&t->slots);
	return NULL;
}

/* Ends the connection that has waited longest for a query. Returns false if there is none. */
static bool evict(struct dns_tcp *t)
{
	struct conn *c;

	haul_mutex_lock(&t->lock);
	c = TAILQ_FIRST(&t->idle);
	if (c)
		end_conn(t, c, SHUT_RDWR);
	haul_mutex_unlock(&t->lock);
	if (c)
		hauli_u64_shared_add(&t->counts.evicted, 1);
	return c != NULL;
}

/* An evicted connection ends soon, but when its carrier has time. */
static bool take_slot(struct dns_tcp *t)
{
	return haul_sem_wait(&t->slots, 0) == 0 ||
		(evict(t) && haul_sem_wait(&t->slots, haul_in(HAUL_S)) == 0);
}

/* Returns 0 or an error. Under the lock the new coroutine is known before it can end. */
static int spawn(struct dns_tcp *t, struct conn *c)
{
	static const struct haul_coro_opts opts = {.name = "tcp connection"};
	struct haul_carrier *carrier = haul_carrier(t->rt, t->next++ % t->opts.carriers);
	int rc;

	haul_mutex_lock(&t->lock);
	rc = haul_spawn_on(carrier, &c->co, serve, c, &opts);
	if (rc == 0) {
		haul_detach(c->co);
		TAILQ_INSERT_TAIL(&t->idle, c, order);
		LIST_INSERT_HEAD(bucket_of(t, &c->client), c, in_bucket);
	}
	haul_mutex_unlock(&t->lock);
	return rc;
}

/* Returns false if the connection is to be closed. */
static bool admit(struct dns_tcp *t, int fd, const struct haul_addr *client, uint16_t port)
{
	struct conn *c;

	if (count_client(t, client) >= t->opts.per_client_max || !take_slot(t))
		return false;
	c = malloc(sizeof(*c));
	if (c) {
		*c = (struct conn){.tcp = t, .fd = fd, .client = *client, .port = port};
		haul_sem_init(&c->room, t->opts.queries_max);
	}
	if (!c || spawn(t, c) < 0) {
		free(c);
		haul_sem_post(&t->slots);
		return false;
	}
	return true;
}

/* Errors of a connection that was gone before it was accepted, or of the machine, are no reason to
 * end. */
static bool is_fatal(int error)
{
	return error == -EBADF || error == -EINVAL || error == -ENOTSOCK || error == -ECANCELED;
}

/* Until it is cancelled. */
static void *accept_all(void *arg)
{
	struct dns_tcp *t = arg;

	for (;;) {
		struct sockaddr_storage from;
		socklen_t length = sizeof(from);
		struct haul_addr client;
		uint16_t port;
		int fd = haul_fd_accept(t->fd, (struct sockaddr *)&from, &length,
			SOCK_CLOEXEC | SOCK_NONBLOCK, HAUL_FOREVER);

		if (is_fatal(fd))
			break;
		if (fd < 0) {
			/* Without descriptors or memory: until some connections have ended. */
			if (fd != -ECONNABORTED && haul_sleep(10 * HAUL_MS) < 0)
				break;
			continue;
		}
		client = dns_tcp_from_kernel(&from, &port);
		if (admit(t, fd, &client, port)) {
			hauli_u64_shared_add(&t->counts.connections, 1);
			continue;
		}
		haul_fd_close(fd);
		hauli_u64_shared_add(&t->counts.refused, 1);
	}
	return NULL;
}

static void set_opts(
	struct dns_tcp_opts *to, const struct dns_tcp_opts *opts, struct haul_runtime *rt)
{
	*to = opts ? *opts : (struct dns_tcp_opts){0};
	to->connections_max = to->connections_max ? to->connections_max : CONNECTIONS;
	to->per_client_max = to->per_client_max ? to->per_client_max : PER_CLIENT;
	to->queries_max = to->queries_max ? to->queries_max : QUERIES;
	to->carriers = to->carriers ? to->carriers : haul_carriers(rt);
	to->idle_ns = to->idle_ns ? to->idle_ns : 10 * HAUL_S;
	to->stop_ns = to->stop_ns ? to->stop_ns : HAUL_S;
}

int dns_tcp_start(struct dns_tcp **tcp, struct haul_runtime *rt, const char *listen,
	const struct dns_tcp_opts *opts, dns_tcp_answer *answer, void *arg, char *errbuf,
	size_t errlen)
{
	static const struct haul_coro_opts acceptor = {.name = "tcp acceptor"};
	struct dns_tcp *t = calloc(1, sizeof(*t));
	int rc = -ENOMEM;

	if (t)
		rc = opts && opts->socket ? dns_tcp_take(opts->socket, &t->port)
					  : dns_tcp_listen(listen, &t->port, errbuf, errlen);
	if (rc < 0)
		goto fail;
	t->fd = rc;
	t->rt = rt;
	t->answer = answer;
	t->arg = arg;
	set_opts(&t->opts, opts, rt);
	haul_sem_init(&t->slots, t->opts.connections_max);
	TAILQ_INIT(&t->idle);
	TAILQ_INIT(&t->busy);
	rc = haul_spawn_any(rt, &t->acceptor, accept_all, t, &acceptor);
	if (rc == 0) {
		*tcp = t;
		return 0;
	}
	haul_fd_close(t->fd);
fail:
	if (rc == -ENOMEM || rc == -ECANCELED)
		snprintf(errbuf, errlen, "%s: %s", listen, strerror(-rc));
	free(t);
	return rc;
}

uint16_t dns_tcp_port(const struct dns_tcp *t)
{
	return t->port;
}

int dns_tcp_socket(const struct dns_tcp *t)
{
	return t->fd;
}

void dns_tcp_get_stats(const struct dns_tcp *t, struct dns_tcp_stats *stats)
{
	const struct counts *c = &t->counts;

	*stats = (struct dns_tcp_stats){
		.connections = hauli_u64_shared_get(&c->connections),
		.refused = hauli_u64_shared_get(&c->refused),
		.evicted = hauli_u64_shared_get(&c->evicted),
		.timeouts = hauli_u64_shared_get(&c->timeouts),
		.malformed = hauli_u64_shared_get(&c->malformed),
		.queries = hauli_u64_shared_get(&c->queries),
		.answers = hauli_u64_shared_get(&c->answers),
	};
}

/* Takes the slots that are left to take; who has all has seen all connections end. */
static bool have_ended(struct dns_tcp *t, uint32_t *left, uint64_t deadline)
{
	for (; *left > 0; (*left)--)
		if (haul_sem_wait(&t->slots, deadline) != 0)
			return false;
	return true;
}

/* What has come already is still received and answered; or, with cancel, nothing. */
static void end_conns(struct dns_tcp *t, bool cancel)
{
	struct conns *lists[] = {&t->idle, &t->busy};

	haul_mutex_lock(&t->lock);
	for (unsigned i = 0; i < 2; i++) {
		struct conn *c = TAILQ_FIRST(lists[i]), *next;

		for (; c; c = next) {
			next = TAILQ_NEXT(c, order);
			if (cancel)
				haul_cancel(c->co);
			end_conn(t, c, cancel ? SHUT_RDWR : SHUT_RD);
		}
	}
	haul_mutex_unlock(&t->lock);
}

static void *stop(void *arg)
{
	struct dns_tcp *t = arg;
	uint32_t left = t->opts.connections_max;

	haul_cancel(t->acceptor);
	haul_join(t->acceptor, NULL, HAUL_FOREVER);
	haul_fd_close(t->fd);
	end_conns(t, false);
	if (!have_ended(t, &left, haul_in(t->opts.stop_ns))) {
		end_conns(t, true);
		if (!have_ended(t, &left, HAUL_FOREVER))
			return NULL; /* the caller is cancelled, and connections still use t */
	}
	free(t);
	return NULL;
}

void dns_tcp_stop(struct dns_tcp *t)
{
	struct haul_coro *co;

	if (!t)
		return;
	if (haul_self())
		stop(t);
	else if (haul_spawn_any(t->rt, &co, stop, t, NULL) == 0)
		haul_join(co, NULL, HAUL_FOREVER);
}
