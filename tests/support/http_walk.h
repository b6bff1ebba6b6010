/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests of haul-http's parser: walks through the messages of a connection, as they arrive in
 * pieces, and sums up what the parser finds. The sum must not depend on the pieces. What holds for
 * every message is checked on the way; what does not hold ends the program.
 */
#ifndef HAUL_TESTS_HTTP_WALK_H
#define HAUL_TESTS_HTTP_WALK_H

#include <stdio.h>
#include <stdlib.h>

#include "../../apps/haul-http/body.h"

#define WALK_CHECK(condition)                                                           \
	do {                                                                            \
		if (!(condition)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                        \
		}                                                                       \
	} while (0)

struct walk {
	bool responses;
	enum http_method method; /* of the responses' requests */
	const struct http_limits *limits;
	uint64_t max; /* of content */
	/* A copy of the bytes which ends where readable memory ends. */
	void *(*copy)(const void *bytes, size_t n);
	/* How many of the n bytes that are left come next; at least 1. */
	size_t (*piece)(void *arg, size_t n);
	void *arg;
	/* Called for each message once its body has ended, if set. */
	void (*on_message)(
		void *arg, unsigned i, const struct http_head *h, struct http_str content);

	/* Results. */
	uint64_t sum;
	unsigned messages; /* complete ones */
	int error; /* that ended it; 0: none */
	bool closed; /* a message ended the connection */

	/* Of the walk. */
	const char *bytes;
	size_t n, at, arrived;
	char content[1 << 16];
	size_t nb_content;
};

static inline void walk_add(struct walk *w, const void *bytes, size_t n)
{
	const unsigned char *b = bytes;

	for (size_t i = 0; i < n; i++)
		w->sum = (w->sum ^ b[i]) * 0x100000001b3;
}

static inline void walk_add_number(struct walk *w, uint64_t n)
{
	walk_add(w, &n, sizeof(n));
}

/* A part of the head, which is text. */
static inline void walk_add_part(
	struct walk *w, const struct http_head *h, struct http_str s, enum http_class class)
{
	WALK_CHECK(http_is_all(s, class));
	WALK_CHECK(s.n == 0 || (s.at >= h->buf && s.at + s.n <= h->buf + h->result));
	walk_add_number(w, s.n);
	walk_add(w, s.at, s.n);
}

static inline void walk_add_head(struct walk *w, const struct http_head *h)
{
	struct http_str value;

	WALK_CHECK(h->result <= h->limits.head && h->nb_fields <= h->limits.fields);
	WALK_CHECK(memcmp(h->buf + h->result - 4, "\r\n\r\n", 4) == 0);
	WALK_CHECK(h->framing != HTTP_UNTIL_CLOSE || (h->is_response && !h->keep_alive));
	WALK_CHECK(h->framing != HTTP_LENGTH || h->length > 0);
	WALK_CHECK(http_find(h, "Content-Length", &value) <= 1);
	WALK_CHECK(http_find(h, "Content-Length", &value) +
			http_find(h, "Transfer-Encoding", &value) <=
		1);
	if (!h->is_response) {
		WALK_CHECK(http_find(h, "Host", &value) + (h->minor == 0) >= 1);
		WALK_CHECK(http_path(h).at[0] == '/' || h->method == HTTP_OPTIONS);
		walk_add_part(w, h, http_method_name(h), HTTP_TOKEN);
		if (h->path.n > 0)
			walk_add_part(w, h, http_path(h), HTTP_TEXT);
		walk_add_part(w, h, http_query(h), HTTP_QUERY);
		walk_add_part(w, h, http_host(h), HTTP_TEXT);
	}
	walk_add_number(w, (uint64_t)h->status << 32 | (uint64_t)h->method << 16 | h->minor);
	walk_add_number(w, h->framing);
	walk_add_number(w, h->length);
	walk_add_number(w, h->keep_alive << 1 | h->expect_continue);
	for (unsigned i = 0; i < h->nb_fields; i++) {
		WALK_CHECK(http_field_name(h, i).n > 0);
		walk_add_part(w, h, http_field_name(h, i), HTTP_TOKEN);
		walk_add_part(w, h, http_field_value(h, i), HTTP_TEXT);
	}
}

/* False if there is nothing more. */
static inline bool walk_receive(struct walk *w)
{
	size_t n;

	if (w->arrived == w->n)
		return false;
	n = w->piece(w->arg, w->n - w->arrived);
	WALK_CHECK(n > 0 && n <= w->n - w->arrived);
	w->arrived += n;
	return true;
}

/* Takes the body. False: not all of it is there, or it is wrong. */
static inline bool walk_body(struct walk *w, const struct http_head *h)
{
	struct http_body b;

	w->nb_content = 0;
	w->error = http_body_init(&b, h, w->max);
	while (w->error == 0 && !b.is_done) {
		size_t n = w->arrived - w->at;
		const char *buf = w->copy(w->bytes + w->at, n);
		struct http_str part;
		ssize_t taken;

		if (n == 0 && !walk_receive(w)) {
			w->error = http_body_close(&b);
			break;
		}
		if (n == 0)
			continue;
		taken = http_body_take(&b, buf, n, &part);
		if (taken < 0) {
			w->error = (int)taken;
			break;
		}
		WALK_CHECK(taken > 0 && (size_t)taken <= n && part.n <= (size_t)taken);
		WALK_CHECK(part.at >= buf && part.at + part.n <= buf + taken);
		WALK_CHECK(part.n <= w->max - w->nb_content);
		walk_add(w, part.at, part.n);
		if (w->nb_content + part.n <= sizeof(w->content))
			memcpy(w->content + w->nb_content, part.at, part.n);
		w->nb_content += part.n;
		w->at += (size_t)taken;
	}
	return w->error == 0 && b.is_done;
}

static inline bool walk_message(struct walk *w)
{
	const size_t start = w->at;
	struct http_head h;
	int rc;

	if (w->responses)
		http_response_init(&h, w->method, w->limits);
	else
		http_request_init(&h, w->limits);
	do {
		size_t n = w->arrived - w->at;

		rc = http_head_parse(&h, w->copy(w->bytes + w->at, n), n);
		WALK_CHECK(rc <= 0 || (size_t)rc <= n);
		/* A caller with a buffer for a head of the largest size is never stuck. */
		WALK_CHECK(rc != 0 || n < h.limits.head);
	} while (rc == 0 && walk_receive(w));
	if (rc <= 0) {
		w->error = rc;
		return false;
	}
	walk_add_head(w, &h);
	w->at += (size_t)rc;
	if (!walk_body(w, &h))
		return false;
	w->closed = !h.keep_alive;
	h.buf = w->bytes + start; /* the copies may be gone */
	if (w->on_message)
		w->on_message(
			w->arg, w->messages, &h, (struct http_str){w->content, w->nb_content});
	w->messages++;
	return h.keep_alive;
}

static inline void walk_run(struct walk *w, const char *bytes, size_t n)
{
	w->bytes = bytes;
	w->n = n;
	w->at = w->arrived = 0;
	w->sum = 0xcbf29ce484222325;
	w->messages = 0;
	w->error = 0;
	w->closed = false;
	while (walk_message(w))
		continue;
	walk_add_number(w, w->messages);
	walk_add_number(w, (uint64_t)w->error);
}

#endif
