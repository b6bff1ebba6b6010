/* SPDX-License-Identifier: BSD-3-Clause */
#include "serve.h"

#include <errno.h>
#include <haul/offload.h>
#include <haul/runtime.h>
#include <haul/scope.h>
#include <stdlib.h>
#include <time.h>

#include "file.h"
#include "reply.h"

enum {
	HEAD_MAX = 1024, /* of our responses: no field is long but Location */
	PART = 64 << 10, /* of a file */
	UNWANTED_MAX = 64 << 10, /* bytes of a body that no handler takes */
};

/* A request, and where its answer goes. */
struct exchange {
	struct http_server *server;
	struct http_local *local;
	struct http_io *io;
	struct http_head head;
};

static uint64_t transfer_deadline(const struct exchange *x)
{
	return haul_in(x->server->transfer_ns);
}

/* Before the head of an answer, which tells if the connection is kept. */
static void begin_answer(struct exchange *x, unsigned status)
{
	if (x->local->ends)
		x->head.keep_alive = false;
	http_count_status(&x->local->counts, status);
}

static int send_text(struct exchange *x, const struct http_head *h, unsigned status)
{
	char text[HEAD_MAX];
	struct http_out o;
	struct iovec piece = {.iov_base = text};
	int n;

	begin_answer(x, status);
	http_out_init(&o, text, sizeof(text));
	n = http_reply_text(&o, h, status, time(NULL));
	if (n < 0)
		return n;
	piece.iov_len = (size_t)n;
	return http_io_send(x->io, &piece, 1, transfer_deadline(x));
}

/* The answers of the backend, one after the other. */
static int send_replies(struct exchange *x, struct http_backend_reply *replies, int n)
{
	char text[HEAD_MAX];
	struct iovec pieces[3] = {{.iov_base = text}};
	struct http_out o;
	size_t sum = 0;
	int rc;

	for (int i = 0; i < n; i++) {
		pieces[1 + i] = (struct iovec){replies[i].content, replies[i].n};
		sum += replies[i].n;
	}
	begin_answer(x, 200);
	http_out_init(&o, text, sizeof(text));
	http_reply_begin(&o, &x->head, 200, time(NULL));
	http_out_text(&o, "Content-Type", "text/plain");
	http_out_number(&o, "Content-Length", sum);
	rc = http_out_end(&o);
	if (rc < 0)
		return rc;
	pieces[0].iov_len = (size_t)rc;
	return http_io_send(
		x->io, pieces, x->head.method == HTTP_HEAD ? 1 : n + 1, transfer_deadline(x));
}

static int send_backend_error(struct exchange *x, int error)
{
	if (error == -ECANCELED)
		return error;
	return send_text(x, &x->head, error == -ETIMEDOUT ? 504 : 502);
}

/* "/": one call. */
static int front(struct exchange *x)
{
	struct http_backend_reply reply;
	int rc = http_backend_get(x->server->backend, x->server->backend_path, &reply,
		haul_in(x->server->backend_ns));

	return rc < 0 ? send_backend_error(x, rc) : send_replies(x, &reply, 1);
}

struct call {
	const struct http_server *server;
	struct http_backend_reply *reply;
};

static int call(void *arg)
{
	struct call *c = arg;

	return http_backend_get(
		c->server->backend, c->server->backend_path, c->reply, HAUL_FOREVER);
}

/* "/parallel": two calls at the same time. If one fails, the other is cancelled. */
static int parallel(struct exchange *x)
{
	struct http_backend_reply replies[2];
	struct call calls[2] = {{x->server, &replies[0]}, {x->server, &replies[1]}};
	int rc = 0;

	{
		HAUL_SCOPE(s, haul_in(x->server->backend_ns), HAUL_SCOPE_FAIL_FAST);

		for (int i = 0; i < 2 && rc == 0; i++)
			rc = haul_scope_spawn(&s, call, &calls[i], NULL);
		if (rc == 0)
			rc = haul_scope_join(&s);
	}
	return rc < 0 ? send_backend_error(x, rc) : send_replies(x, replies, 2);
}

/* text, which comes first, and n bytes of the file. Less is in the file than it had: an error. */
static int send_range(struct exchange *x, const struct http_file *f, struct http_str text,
	uint64_t from, uint64_t n, char *buf)
{
	while (n > 0 || text.n > 0) {
		size_t part = n < PART ? (size_t)n : PART;
		struct iovec pieces[2] = {{(void *)text.at, text.n}, {buf, 0}};
		ssize_t got = n > 0
			? haul_fd_pread(f->fd, buf, part, (off_t)from, transfer_deadline(x))
			: 0;
		int rc;

		if (got < 0 || (got == 0 && n > 0))
			return got < 0 ? (int)got : -EIO;
		pieces[1].iov_len = (size_t)got;
		rc = http_io_send(x->io, pieces, 2, transfer_deadline(x));
		if (rc < 0)
			return rc;
		text.n = 0;
		from += (uint64_t)got;
		n -= (uint64_t)got;
	}
	return 0;
}

static int send_file(struct exchange *x, struct http_file *f)
{
	struct http_piece piece = {0};
	char text[HEAD_MAX * 8], *buf = f->fd >= 0 ? malloc(PART) : NULL;
	struct http_out o;
	int rc;

	begin_answer(x, f->status);
	http_out_init(&o, text, sizeof(text));
	http_reply_begin(&o, &x->head, f->status, time(NULL));
	http_file_fields(f, &o);
	rc = http_out_end(&o);
	if (rc < 0 || (f->fd >= 0 && !buf)) {
		free(buf);
		return rc < 0 ? rc : -ENOMEM;
	}
	/* The head goes with the first part of the content, if that is of the file. */
	if (http_file_next(f, &piece) && piece.text.n > 0) {
		rc = send_range(x, f, (struct http_str){text, (size_t)rc}, 0, 0, buf);
		if (rc == 0)
			rc = send_range(x, f, piece.text, 0, 0, buf);
	} else {
		rc = send_range(
			x, f, (struct http_str){text, (size_t)rc}, piece.from, piece.n, buf);
	}
	while (rc == 0 && http_file_next(f, &piece))
		rc = send_range(x, f, piece.text, piece.from, piece.n, buf);
	free(buf);
	return rc;
}

struct lookup {
	const struct exchange *x;
	struct http_file *f;
};

static void look_up(void *arg)
{
	struct lookup *l = arg;

	http_file_open(l->f, l->x->server->root, &l->x->head, time(NULL));
}

/* Mostly the kernel has the names in memory. Else a disk is read, by a thread that may block. */
static void open_file(const struct exchange *x, struct http_file *f)
{
	struct lookup lookup = {x, f};

	if (!http_file_try_open(f, x->server->root, &x->head, time(NULL)) &&
		haul_offload(look_up, &lookup, transfer_deadline(x)) < 0)
		f->status = 503;
}

/* All other paths. */
static int file(struct exchange *x)
{
	struct http_file f;
	int rc;

	open_file(x, &f);
	rc = f.status >= 400 && f.status != 416 ? send_text(x, &x->head, f.status)
						: send_file(x, &f);
	http_file_close(&f);
	return rc;
}

static int answer(struct exchange *x)
{
	const struct http_head *h = &x->head;
	struct http_str path = http_path(h);
	bool calls = x->server->backend != NULL &&
		(http_is_text(path, "/") || http_is_text(path, "/parallel"));

	if (h->method == HTTP_OTHER)
		return send_text(x, h, 501);
	if (h->method != HTTP_GET && h->method != HTTP_HEAD)
		return send_text(x, h, 405);
	if (calls)
		return path.n == 1 ? front(x) : parallel(x);
	return x->server->root >= 0 ? file(x) : send_text(x, h, 404);
}

/* No handler wants a body: a short one is taken, so that the connection can be kept. */
static int skip_body(struct exchange *x, struct http_body *b)
{
	struct http_str content;
	uint64_t deadline = transfer_deadline(x);
	int rc;

	while ((rc = http_io_body(x->io, b, &content, deadline)) > 0)
		continue;
	return rc;
}

/* The limit that has ended a connection, or HTTP_LIMITS if it was none; timeout: that of
 * -ETIMEDOUT. */
static enum http_limit limit_of(int error, enum http_limit timeout)
{
	switch (error) {
	case -ETIMEDOUT:
		return timeout;
	case -408:
		return HTTP_LIMIT_HEAD_TIME;
	case -413:
		return HTTP_LIMIT_BODY;
	case -414:
		return HTTP_LIMIT_LINE;
	case -431:
		return HTTP_LIMIT_FIELDS;
	default:
		return HTTP_LIMITS;
	}
}

static void count_limit(struct exchange *x, int error, enum http_limit timeout)
{
	enum http_limit limit = limit_of(error, timeout);

	if (limit != HTTP_LIMITS)
		http_count(&x->local->counts.limits[limit], 1);
}

/* The head, and what is to be known of the body. Returns 1, 0 at the end of the connection, or an
 * error. */
static int receive_request(struct exchange *x, struct http_conn *c, struct http_body *body)
{
	const struct http_server *s = x->server;
	int rc;

	http_request_init(&x->head, NULL);
	http_local_await(x->local, c);
	rc = http_io_head(x->io, &x->head, s->idle_ns, s->head_ns);
	c->awaits_request = false;
	http_local_heard(x->local, c);
	if (rc <= 0)
		return rc;
	http_count(&x->local->counts.requests, 1);
	rc = http_body_init(body, &x->head, UNWANTED_MAX);
	return rc < 0 ? rc : 1;
}

/* Returns true if there can be another request. */
static bool serve_one(struct exchange *x, struct http_conn *c)
{
	struct http_body body;
	int rc = receive_request(x, c, &body);

	if (rc <= -400 && send_text(x, NULL, (unsigned)-rc) == 0)
		http_io_linger(x->io, haul_in(HAUL_S));
	if (rc <= 0) {
		count_limit(x, rc, HTTP_LIMIT_IDLE);
		return false;
	}
	/* A client that asks before it sends the body gets the answer without sending it. */
	if (x->head.expect_continue)
		x->head.keep_alive = false;
	rc = answer(x);
	if (rc == 0 && x->head.keep_alive)
		rc = skip_body(x, &body);
	else if (rc == 0)
		http_io_linger(x->io, haul_in(HAUL_S));
	count_limit(x, rc, HTTP_LIMIT_TRANSFER);
	return rc == 0 && x->head.keep_alive;
}

static void count_bytes(struct exchange *x)
{
	http_count(&x->local->counts.rx_bytes, x->io->rx_bytes);
	http_count(&x->local->counts.tx_bytes, x->io->tx_bytes);
	x->io->rx_bytes = x->io->tx_bytes = 0;
}

static struct http_local *local_here(struct http_server *s)
{
	return &s->locals[haul_carrier_id(haul_carrier_self())];
}

void http_serve(struct http_server *s, int fd)
{
	struct http_conn c;
	struct exchange x = {.server = s, .local = local_here(s), .io = &c.io};

	if (http_io_open(&c.io, fd) < 0)
		return;
	http_local_enter(x.local, &c);
	while (serve_one(&x, &c))
		count_bytes(&x);
	count_bytes(&x);
	http_local_leave(x.local, &c);
	http_io_close(&c.io);
}

void http_server_end_here(struct http_server *s, bool fresh_too)
{
	http_local_end(local_here(s), fresh_too);
}

unsigned http_server_fresh_here(struct http_server *s)
{
	return local_here(s)->nb_fresh;
}

void http_server_count_rest_here(struct http_server *s)
{
	http_local_count_rest(local_here(s));
}

int http_server_init(struct http_server *s, unsigned carriers)
{
	s->carriers = carriers;
	s->locals = aligned_alloc(_Alignof(struct http_local), carriers * sizeof(s->locals[0]));
	if (!s->locals)
		return -ENOMEM;
	memset(s->locals, 0, carriers * sizeof(s->locals[0]));
	return 0;
}

void http_server_fini(struct http_server *s)
{
	free(s->locals);
}
