/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Heads that are sent. They are printed to a buffer; what goes wrong on the way is told at the end.
 * A value cannot add fields or end the head: control characters are refused.
 */
#ifndef HTTP_OUT_H
#define HTTP_OUT_H

#include "head.h"

enum { HTTP_CHUNK_HEAD_MAX = 18 };

struct http_out {
	char *buf;
	uint32_t size, n;
	int error;
};

void http_out_init(struct http_out *o, char *buf, uint32_t size);

/* "OK", for a status that haul-http sends; else "". */
const char *http_reason(unsigned status);

/* A head begins with one of these. The latter includes the field Host. */
void http_out_status(struct http_out *o, unsigned status);
void http_out_request(
	struct http_out *o, const char *method, struct http_str target, struct http_str host);

void http_out_field(struct http_out *o, const char *name, struct http_str value);
void http_out_text(struct http_out *o, const char *name, const char *value);
void http_out_number(struct http_out *o, const char *name, uint64_t value);
void http_out_date(struct http_out *o, const char *name, int64_t seconds);

/* Ends the head. Returns its length, -ENOSPC, or -EINVAL if a part has a byte that it must not
 * have. */
int http_out_end(struct http_out *o);

/* What stands before a chunk of n bytes, and ends the body if n is 0; after the bytes of the chunk
 * comes CR LF. Returns the length of the text. */
unsigned http_chunk_head(char text[HTTP_CHUNK_HEAD_MAX], uint64_t n);

/* For parts of the response that are no fields. */
void http_out_put(struct http_out *o, struct http_str text);
void http_out_put_number(struct http_out *o, uint64_t number);

#endif
