/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of a backend by HTTP, on connections that each carrier keeps for its own coroutines. */
#ifndef HTTP_BACKEND_H
#define HTTP_BACKEND_H

#include <netinet/in.h>

#include "io.h"

enum { HTTP_BACKEND_CONTENT = 2048 };

struct http_backend_reply {
	unsigned status;
	size_t n;
	char content[HTTP_BACKEND_CONTENT];
};

struct http_backend;

/* carriers: of the runtime, without stealing: a coroutine stays where its connections are. idle:
 * connections kept by each carrier. Returns NULL without memory. */
struct http_backend *http_backend_create(
	const struct sockaddr_in *addr, unsigned carriers, unsigned idle);

/* After the runtime has stopped. */
void http_backend_destroy(struct http_backend *b);

/* GET of a path. Coroutines of the runtime. Returns 0, or an error: -ETIMEDOUT, -ECANCELED, of the
 * connection, -502 for a wrong response, -413 for one with more content than fits. */
int http_backend_get(struct http_backend *b, const char *path, struct http_backend_reply *reply,
	uint64_t deadline) HAUL_SUSPENDS;

#endif
