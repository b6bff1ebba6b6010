/* SPDX-License-Identifier: BSD-3-Clause */
#include "backend.h"

#include <arpa/inet.h>
#include <errno.h>
#include <haul/runtime.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "out.h"

struct conn {
	struct conn *next;
	struct http_io io;
	bool keep;
};

/* Of one carrier, whose coroutines take turns: no lock, as nothing suspends in between. */
struct pool {
	struct conn *first;
	unsigned n;
} __attribute__((aligned(64)));

struct http_backend {
	struct sockaddr_in addr;
	char host[INET_ADDRSTRLEN + sizeof(":65535")];
	unsigned carriers, idle;
	struct pool *pools;
};

struct http_backend *http_backend_create(
	const struct sockaddr_in *addr, unsigned carriers, unsigned idle)
{
	struct http_backend *b = calloc(1, sizeof(*b));
	char ip[INET_ADDRSTRLEN];

	if (!b)
		return NULL;
	b->pools = aligned_alloc(64, carriers * sizeof(struct pool));
	if (!b->pools) {
		free(b);
		return NULL;
	}
	memset(b->pools, 0, carriers * sizeof(struct pool));
	b->addr = *addr;
	b->carriers = carriers;
	b->idle = idle;
	inet_ntop(AF_INET, &addr->sin_addr, ip, sizeof(ip));
	snprintf(b->host, sizeof(b->host), "%s:%u", ip, ntohs(addr->sin_port));
	return b;
}

static struct conn *take_kept(struct pool *p)
{
	struct conn *c = p->first;

	if (c) {
		p->first = c->next;
		p->n--;
	}
	return c;
}

static void drop(struct conn *c)
{
	http_io_close(&c->io);
	free(c);
}

void http_backend_destroy(struct http_backend *b)
{
	struct conn *c;

	for (unsigned i = 0; i < b->carriers; i++)
		while ((c = take_kept(&b->pools[i])))
			drop(c);
	free(b->pools);
	free(b);
}

static struct pool *pool_here(struct http_backend *b)
{
	return &b->pools[haul_carrier_id(haul_carrier_self())];
}

/* The one that was used last is the least likely to be closed by the backend. */
static void give_back(struct http_backend *b, struct conn *c)
{
	struct pool *p = pool_here(b);

	if (!c->keep || p->n >= b->idle) {
		drop(c);
		return;
	}
	c->next = p->first;
	p->first = c;
	p->n++;
}

static int connect_new(struct http_backend *b, struct conn **made, uint64_t deadline)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1, rc;
	struct conn *c;

	if (fd < 0)
		return -errno;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	rc = haul_fd_connect(fd, (const struct sockaddr *)&b->addr, sizeof(b->addr), deadline);
	c = rc == 0 ? calloc(1, sizeof(*c)) : NULL;
	if (!c) {
		haul_fd_close(fd);
		return rc < 0 ? rc : -ENOMEM;
	}
	rc = http_io_open(&c->io, fd);
	if (rc < 0) {
		free(c);
		return rc;
	}
	*made = c;
	return 0;
}

static int send_request(
	struct http_backend *b, struct http_io *io, const char *path, uint64_t deadline)
{
	char text[512];
	struct http_out o;
	struct iovec piece;
	int n;

	http_out_init(&o, text, sizeof(text));
	http_out_request(&o, "GET", (struct http_str){path, strlen(path)},
		(struct http_str){b->host, strlen(b->host)});
	n = http_out_end(&o);
	if (n < 0)
		return n;
	piece = (struct iovec){text, (size_t)n};
	return http_io_send(io, &piece, 1, deadline);
}

/* The final one: those of 1xx come before it (RFC 9110, 15.2). */
static int receive_head(struct http_io *io, struct http_head *h, uint64_t deadline)
{
	int rc;

	do {
		uint64_t now = haul_now(), left = deadline > now ? deadline - now : 0;

		http_response_init(h, HTTP_GET, NULL);
		rc = http_io_head(io, h, left, left);
	} while (rc > 0 && h->status < 200);
	return rc == 0 ? -ECONNRESET : rc == -408 ? -ETIMEDOUT : rc < 0 ? rc : 0;
}

static int exchange(struct http_backend *b, struct conn *c, const char *path,
	struct http_backend_reply *reply, uint64_t deadline)
{
	struct http_str part;
	struct http_head h;
	struct http_body body;
	int rc = send_request(b, &c->io, path, deadline);

	if (rc == 0)
		rc = receive_head(&c->io, &h, deadline);
	if (rc == 0)
		rc = http_body_init(&body, &h, HTTP_BACKEND_CONTENT);
	if (rc < 0)
		return rc;
	reply->status = h.status;
	reply->n = 0;
	while ((rc = http_io_body(&c->io, &body, &part, deadline)) > 0) {
		memcpy(reply->content + reply->n, part.at, part.n);
		reply->n += part.n;
	}
	/* What is left over nobody has asked for. */
	c->keep = h.keep_alive && c->io.from == c->io.to;
	return rc;
}

/* c is given back, or dropped. */
static int get_on(struct http_backend *b, struct conn *c, const char *path,
	struct http_backend_reply *reply, uint64_t deadline)
{
	int rc = exchange(b, c, path, reply, deadline);

	if (rc == 0)
		give_back(b, c);
	else
		drop(c);
	return rc;
}

int http_backend_get(struct http_backend *b, const char *path, struct http_backend_reply *reply,
	uint64_t deadline)
{
	struct conn *c = take_kept(pool_here(b));
	int rc;

	if (c) {
		rc = get_on(b, c, path, reply, deadline);
		/* The backend may have closed it meanwhile. A GET can be repeated. */
		if (rc != -ECONNRESET && rc != -EPIPE)
			return rc;
	}
	rc = connect_new(b, &c, deadline);
	return rc < 0 ? rc : get_on(b, c, path, reply, deadline);
}
