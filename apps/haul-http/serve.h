/* SPDX-License-Identifier: BSD-3-Clause */
/* What haul-http does with a connection. */
#ifndef HTTP_SERVE_H
#define HTTP_SERVE_H

#include "backend.h"
#include "local.h"

struct http_server {
	int root; /* folder of the files; -1: none */
	struct http_backend *backend; /* NULL: none */
	const char *backend_path;
	/* Limits, in ns: between two requests; for a head; for each 64 KiB that the client takes,
	 * or sends; for the backend. */
	uint64_t idle_ns, head_ns, transfer_ns, backend_ns;
	unsigned carriers;
	struct http_local *locals; /* [carriers] */
};

/* Sets carriers and locals. Returns 0 or -ENOMEM. */
int http_server_init(struct http_server *s, unsigned carriers);
void http_server_fini(struct http_server *s);

/* Serves the connection fd until its end, and closes it. By a coroutine of its own, which stays on
 * its carrier. */
void http_serve(struct http_server *s, int fd) HAUL_SUSPENDS;

/* http_local_end() and http_local_count_rest() of the caller's carrier. */
void http_server_end_here(struct http_server *s, bool fresh_too);
/* The number of connections whose first request has not come yet. */
unsigned http_server_fresh_here(struct http_server *s);
void http_server_count_rest_here(struct http_server *s);

#endif
