/* SPDX-License-Identifier: BSD-3-Clause */
#include "listen.h"

#include <errno.h>
#include <haul/haul.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <unistd.h>

#define FIRST_NS (500 * HAUL_MS) /* for first requests, at the end */

/* A listening socket, and who accepts from it. */
struct listener {
	int fd;
	struct http_listeners *all;
	struct haul_coro *acceptor;
	uint32_t nb_slots;
	struct haul_sem free_slots; /* one for each connection that there may be */
	unsigned next; /* without `each`: the carrier of the next connection */
};

struct http_listeners {
	struct haul_runtime *rt;
	struct http_server *server;
	bool each;
	bool stays; /* the socket is another process's, too, where connections wait for the next */
	uint64_t most_ns; /* of the end */
	unsigned n; /* that are open */
	struct listener listeners[];
};

/* Of all carriers. */
struct fresh {
	struct http_server *server;
	unsigned n;
};

struct job {
	struct listener *from;
	int fd;
};

static void *serve(void *arg)
{
	struct job job = *(struct job *)arg;

	free(arg);
	http_serve(job.from->all->server, job.fd);
	haul_sem_post(&job.from->free_slots);
	return NULL;
}

static void spawn(struct listener *l, int fd)
{
	static const struct haul_coro_opts opts = {.name = "connection"};
	struct haul_runtime *rt = l->all->rt;
	struct job *job = malloc(sizeof(*job));
	int rc = -ENOMEM;

	if (job) {
		*job = (struct job){l, fd};
		rc = l->all->each ? haul_spawn(NULL, serve, job, &opts)
				  : haul_spawn_on(haul_carrier(rt, l->next++ % haul_carriers(rt)),
					    NULL, serve, job, &opts);
	}
	if (rc < 0) {
		free(job);
		haul_fd_close(fd);
		haul_sem_post(&l->free_slots);
	}
}

/* Errors of a connection that was gone before it was accepted, or of the machine, are no reason to
 * end. */
static bool is_fatal(int error)
{
	return error == -EBADF || error == -EINVAL || error == -ENOTSOCK || error == -ECANCELED;
}

/* The connections whose clients the kernel has told that they stand. */
static void accept_rest(struct listener *l)
{
	while (haul_sem_wait(&l->free_slots, 0) == 0) {
		int fd = haul_fd_accept(l->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

		if (fd < 0) {
			haul_sem_post(&l->free_slots);
			break;
		}
		spawn(l, fd);
	}
}

/* Until it is cancelled. */
static void *accept_all(void *arg)
{
	struct listener *l = arg;

	while (haul_sem_wait(&l->free_slots, HAUL_FOREVER) == 0) {
		int fd = haul_fd_accept(
			l->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK, HAUL_FOREVER);

		if (fd >= 0) {
			spawn(l, fd);
			continue;
		}
		haul_sem_post(&l->free_slots);
		if (is_fatal(fd))
			break;
		/* Without descriptors or memory: until some connections have ended. */
		if (fd != -ECONNABORTED && haul_sleep(10 * HAUL_MS) < 0)
			break;
	}
	if (!l->all->stays)
		accept_rest(l);
	haul_fd_close(l->fd);
	return NULL;
}

/* Returns the socket, or -errno. *addr gets the port, if it was 0. */
static int open_socket(struct sockaddr_in *addr, bool each)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;
	socklen_t length = sizeof(*addr);

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (each)
		setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
	/* Connections inherit it. */
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)addr, length) != 0 || listen(fd, 4096) != 0 ||
		getsockname(fd, (struct sockaddr *)addr, &length) != 0) {
		int error = -errno;

		close(fd);
		return error;
	}
	return fd;
}

static int take_socket(struct http_listen_opts *opts)
{
	socklen_t length = sizeof(opts->addr);
	int on = 1;

	setsockopt(opts->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (getsockname(opts->socket, (struct sockaddr *)&opts->addr, &length) != 0)
		return -errno;
	return opts->socket;
}

static int open_all(struct http_listeners *l, unsigned n, struct http_listen_opts *opts)
{
	for (; l->n < n; l->n++) {
		struct listener *one = &l->listeners[l->n];
		int fd = opts->socket ? take_socket(opts) : open_socket(&opts->addr, opts->each);

		if (fd < 0)
			return fd;
		*one = (struct listener){
			.fd = fd, .all = l, .nb_slots = (opts->connections + n - 1) / n};
		haul_sem_init(&one->free_slots, one->nb_slots);
	}
	return 0;
}

/* Opens all sockets first: a connection that comes to one waits until its carrier accepts. */
int http_listen(struct http_listeners **l, struct haul_runtime *rt, struct http_server *s,
	struct http_listen_opts *opts)
{
	static const struct haul_coro_opts acceptor = {.name = "acceptor"};
	bool each = opts->each && !opts->socket;
	unsigned n = each ? haul_carriers(rt) : 1;
	int rc;

	*l = calloc(1, sizeof(**l) + n * sizeof((*l)->listeners[0]));
	if (!*l)
		return -ENOMEM;
	(*l)->rt = rt;
	(*l)->server = s;
	(*l)->each = each;
	(*l)->stays = opts->socket > 0;
	rc = open_all(*l, n, opts);
	for (unsigned i = 0; rc == 0 && i < n; i++)
		rc = haul_spawn_on(haul_carrier(rt, i), &(*l)->listeners[i].acceptor, accept_all,
			&(*l)->listeners[i], &acceptor);
	return rc;
}

static int end_here(void *server)
{
	http_server_end_here(server, false);
	return 0;
}

static int end_fresh_here(void *server)
{
	http_server_end_here(server, true);
	return 0;
}

static int add_fresh_here(void *arg)
{
	struct fresh *f = arg;

	f->n += http_server_fresh_here(f->server);
	return 0;
}

/* Clients that have connected send their first request just now. */
static void wait_for_first(struct http_listeners *l)
{
	const uint64_t end = haul_in(FIRST_NS);
	struct fresh f = {.server = l->server};

	for (;;) {
		f.n = 0;
		haul_on_each(l->rt, add_fresh_here, &f);
		if (f.n == 0 || haul_now() >= end || haul_sleep(HAUL_MS) < 0)
			return;
	}
}

static int count_rest_here(void *server)
{
	http_server_count_rest_here(server);
	return 0;
}

/* A caller that gets all slots has seen all connections end. */
static bool have_ended(struct listener *l, uint64_t deadline)
{
	for (uint32_t i = 0; i < l->nb_slots; i++)
		if (haul_sem_wait(&l->free_slots, deadline) != 0)
			return false;
	return true;
}

/* A coroutine. */
static void *end_all(void *arg)
{
	struct http_listeners *l = arg;
	uint64_t deadline = haul_in(l->most_ns);
	bool ended = true;

	for (unsigned i = 0; i < l->n; i++) {
		struct listener *one = &l->listeners[i];

		if (!one->acceptor) {
			close(one->fd);
			continue;
		}
		haul_cancel(one->acceptor);
		haul_join(one->acceptor, NULL, HAUL_FOREVER);
	}
	haul_on_each(l->rt, end_here, l->server);
	wait_for_first(l);
	haul_on_each(l->rt, end_fresh_here, l->server);
	for (unsigned i = 0; i < l->n && ended; i++)
		ended = have_ended(&l->listeners[i], deadline);
	if (!ended)
		haul_on_each(l->rt, count_rest_here, l->server);
	return NULL;
}

void http_listen_end(struct http_listeners *l, uint64_t most_ns)
{
	struct haul_coro *co;

	if (!l)
		return;
	l->most_ns = most_ns;
	if (haul_spawn_any(l->rt, &co, end_all, l, NULL) == 0)
		haul_join(co, NULL, HAUL_FOREVER);
}

void http_listen_free(struct http_listeners *l)
{
	free(l);
}
