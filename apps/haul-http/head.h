/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The head of an HTTP/1 message: its first line and its fields (RFC 9112). The parser is strict, as
 * two programs that understand a message differently can be made to answer the wrong client. It
 * allocates nothing, and what it finds are places in the caller's buffer.
 */
#ifndef HTTP_HEAD_H
#define HTTP_HEAD_H

#include "chars.h"

enum { HTTP_FIELDS_MAX = 64 };

struct http_limits {
	uint16_t line; /* bytes of a line without its CRLF */
	uint16_t head; /* bytes of a head with all its line ends */
	uint16_t fields; /* more than HTTP_FIELDS_MAX means that */
};

/* Lines of 8,000 bytes are what RFC 9112 asks for. */
extern const struct http_limits http_limits;

enum http_method {
	HTTP_OTHER, /* http_method_name() tells which */
	HTTP_GET,
	HTTP_HEAD,
	HTTP_POST,
	HTTP_PUT,
	HTTP_DELETE,
	HTTP_OPTIONS,
	HTTP_PATCH,
	HTTP_TRACE,
};

/* How the body is delimited. */
enum http_framing {
	HTTP_NO_BODY,
	HTTP_LENGTH, /* so many bytes; not 0 */
	HTTP_CHUNKED,
	HTTP_UNTIL_CLOSE, /* responses only */
};

struct http_span {
	uint16_t at, n;
};

struct http_field {
	struct http_span name, value;
};

struct http_head {
	/* Valid once http_head_parse() has returned the length. */
	enum http_method method; /* of a response: that of its request */
	enum http_framing framing;
	uint64_t length; /* HTTP_LENGTH: of the body; of a response to HEAD: as the server says */
	uint16_t status; /* responses only */
	uint8_t minor; /* 0: HTTP/1.0, 1: HTTP/1.1 or a later HTTP/1 */
	bool keep_alive; /* the connection can carry another message */
	bool expect_continue; /* the client waits for "100 Continue" before it sends the body */
	bool is_response;
	uint16_t nb_fields;

	/* The parser's own. */
	bool in_fields, had_blank, had_host, had_length, had_coding, wants_close, wants_keep;
	int result;
	uint32_t line, scanned; /* offsets: of the line, and of the first byte not looked at */
	const char *buf; /* as it was given last */
	struct http_limits limits;
	struct http_span method_name, path, query, host;
	struct http_field fields[HTTP_FIELDS_MAX];
};

/* Before each message. Limits: NULL for http_limits. */
void http_request_init(struct http_head *h, const struct http_limits *limits);

/* method: that of the request. */
void http_response_init(
	struct http_head *h, enum http_method method, const struct http_limits *limits);

/*
 * Looks at the n bytes at buf, with which a message begins. Call it again with the same bytes and
 * some more, which may be at another address, until it does not return 0. A byte is looked at once.
 * Returns the length of the head (> 0), 0 if there must be more, or an error: the negative status
 * of the response to send, after which the connection must be closed, as the place of the next
 * message is unknown. It is -502 for each wrong response.
 */
int http_head_parse(struct http_head *h, const char *buf, size_t n);

/* All below point into the buffer that http_head_parse() saw last. */

struct http_str http_method_name(const struct http_head *h);

/* The path, which begins with '/', with its %XX; "*" for OPTIONS of the server itself. */
struct http_str http_path(const struct http_head *h);

/* What is after the '?'. */
struct http_str http_query(const struct http_head *h);

/* Host and port as the target or the field Host has them; empty if neither does. */
struct http_str http_host(const struct http_head *h);

struct http_str http_field_name(const struct http_head *h, unsigned i);
struct http_str http_field_value(const struct http_head *h, unsigned i);

/* Returns the number of fields with the name, in any case of letters. *value is that of the first,
 * if there is one. */
unsigned http_find(const struct http_head *h, const char *name, struct http_str *value);

#endif
