/* SPDX-License-Identifier: BSD-3-Clause */
/* The body of a message: its content without the framing (RFC 9112, 6 and 7). */
#ifndef HTTP_BODY_H
#define HTTP_BODY_H

#include <sys/types.h>

#include "head.h"

enum {
	HTTP_EXTENSIONS_MAX = 1024, /* bytes of all extensions of chunks of a body */
	HTTP_TRAILERS_MAX = 4096, /* bytes of all trailers, which are checked and dropped */
};

struct http_body {
	bool is_done; /* all of the body was taken */

	/* The decoder's own. */
	enum http_framing framing;
	bool is_response;
	uint8_t state, digits;
	uint16_t nb_trailers, trailers, extensions;
	uint64_t left; /* bytes of the chunk, or of the body */
	uint64_t room; /* bytes of content that may still come in further chunks */
	struct http_limits limits;
};

/*
 * After http_head_parse() has returned the length of the head. max: of content, in bytes. Returns
 * 0, or -413 if the body is larger, which other calls return, too, when they see it; of a response,
 * too.
 */
int http_body_init(struct http_body *b, const struct http_head *h, uint64_t max);

/*
 * Takes bytes of the body from the n bytes at buf, which follow those taken before. *content is the
 * part of these that is content; it may be empty. Returns the number of bytes taken, which is less
 * than n if content is followed by something else, or an error as http_head_parse() does, after
 * which it must not be called. Nothing is taken any more when is_done is set.
 */
ssize_t http_body_take(struct http_body *b, const char *buf, size_t n, struct http_str *content);

/* When the peer sends nothing more: returns 0 if the body is complete, or an error. */
int http_body_close(struct http_body *b);

#endif
