/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A connection and what has been received of it: heads are parsed where they are, and what follows
 * them stays for the next message. Errors are those of haul/fd.h, -errno, or negative statuses of
 * HTTP, which are all below -399.
 */
#ifndef HTTP_IO_H
#define HTTP_IO_H

#include <haul/fd.h>

#include "body.h"
#include "head.h"

struct http_io {
	int fd;
	char *buf; /* received, and not taken: from from to to */
	uint32_t size, from, to;
	uint64_t rx_bytes, tx_bytes; /* since the user has set them to 0 */
};

/* Returns 0 or -ENOMEM. fd belongs to io from now on, also after an error. */
int http_io_open(struct http_io *io, int fd);
void http_io_close(struct http_io *io);

/*
 * Receives a head: it may begin within idle_ns, and must end head_ns after its first byte, however
 * many pieces it comes in. h is initialised; what it points to is valid until something is received
 * again. Returns 1; 0 if the peer has ended the connection before the first byte; -ETIMEDOUT within
 * idle_ns without a byte, or -408 later; or another error.
 */
int http_io_head(
	struct http_io *io, struct http_head *h, uint64_t idle_ns, uint64_t head_ns) HAUL_SUSPENDS;

/* Receives the next piece of the body, whose bytes are valid until the next call. Returns 1, with
 * an empty piece as well; 0 at the end of the body; or an error. */
int http_io_body(struct http_io *io, struct http_body *b, struct http_str *content,
	uint64_t deadline) HAUL_SUSPENDS;

/* Sends all of the n pieces, which are changed. Returns 0 or an error. */
int http_io_send(struct http_io *io, struct iovec *pieces, int n, uint64_t deadline) HAUL_SUSPENDS;

/*
 * Ends a connection on which the peer may still be sending: close() alone would have the kernel
 * answer that with a reset, which may overtake our response.
 */
void http_io_linger(struct http_io *io, uint64_t deadline) HAUL_SUSPENDS;

#endif
