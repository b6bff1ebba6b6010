/* SPDX-License-Identifier: BSD-3-Clause */
/* The sockets that connections come from, and the coroutines that accept them. */
#ifndef HTTP_LISTEN_H
#define HTTP_LISTEN_H

#include <haul/runtime.h>
#include <netinet/in.h>

#include "serve.h"

struct http_listen_opts {
	struct sockaddr_in addr; /* port 0: the kernel chooses one */
	int socket; /* that listens, for all carriers, and is closed with the rest; 0: at addr */
	bool each; /* each carrier has a socket of its own (SO_REUSEPORT); or one has one for all */
	uint32_t connections; /* of all carriers: others wait to be accepted */
};

struct http_listeners;

/* Begins to accept. Any thread that is no carrier. Returns 0 with the address in opts->addr; or,
 * with *l as far as it was begun, -errno. */
int http_listen(struct http_listeners **l, struct haul_runtime *rt, struct http_server *s,
	struct http_listen_opts *opts);

/* Accepts no more, and waits until all connections have ended, for most_ns. Any thread that is no
 * carrier. l may be NULL. */
void http_listen_end(struct http_listeners *l, uint64_t most_ns);

/* After the runtime has stopped. l may be NULL. */
void http_listen_free(struct http_listeners *l);

#endif
