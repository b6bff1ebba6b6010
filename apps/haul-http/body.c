/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A chunked body is decoded byte by byte, apart from its content:
 *
 *   SIZE 5 ---- CR LF ---> CONTENT ---> CONTENT_CR ---> CONTENT_LF ---> SIZE
 *     | ; EXTENSION CR ^
 *     0 -- CR LF ---> TRAILER --- NAME --- VALUE CR LF ---> TRAILER
 *                        `------- CR LF ---> done
 */
#include "body.h"

enum { DIGITS_MAX = 16 };

enum state {
	SIZE,
	EXTENSION,
	SIZE_LF,
	CONTENT,
	CONTENT_CR,
	CONTENT_LF,
	TRAILER,
	NAME,
	VALUE,
	VALUE_LF,
	END_LF,
};

int http_body_init(struct http_body *b, const struct http_head *h, uint64_t max)
{
	*b = (struct http_body){.framing = h->framing, .limits = h->limits, .room = max};
	b->is_response = h->is_response;
	b->is_done = h->framing == HTTP_NO_BODY;
	if (h->framing == HTTP_LENGTH)
		b->left = h->length;
	if (h->framing == HTTP_UNTIL_CLOSE)
		b->left = max;
	return h->framing == HTTP_LENGTH && h->length > max ? -413 : 0;
}

static int wrong(const struct http_body *b, int status)
{
	return b->is_response ? -502 : status;
}

static int expect(struct http_body *b, char c, char expected, enum state next)
{
	b->state = next;
	return c == expected ? 0 : wrong(b, -400);
}

/* Hexadecimal digits: no sign, no 0x, no blanks around them. */
static int take_size(struct http_body *b, char c)
{
	int digit = http_hex(c);

	if (digit >= 0) {
		b->left = b->left << 4 | (unsigned)digit;
		return b->digits++ < DIGITS_MAX ? 0 : wrong(b, -400);
	}
	if (b->digits == 0)
		return wrong(b, -400);
	if (c == ';') {
		b->state = EXTENSION;
		return 0;
	}
	return expect(b, c, '\r', SIZE_LF);
}

static int take_extension(struct http_body *b, char c)
{
	if (c == '\r') {
		b->state = SIZE_LF;
		return 0;
	}
	return http_is(c, HTTP_TEXT) && b->extensions++ < HTTP_EXTENSIONS_MAX ? 0 : wrong(b, -400);
}

static int end_size(struct http_body *b, char c)
{
	if (c != '\n')
		return wrong(b, -400);
	if (b->left > b->room)
		return -413;
	b->room -= b->left;
	b->state = b->left > 0 ? CONTENT : TRAILER;
	return 0;
}

static int next_chunk(struct http_body *b, char c)
{
	b->digits = 0;
	return expect(b, c, '\n', SIZE);
}

static int take_trailer(struct http_body *b, char c)
{
	if (c == '\r') {
		b->state = END_LF;
		return 0;
	}
	b->state = NAME;
	if (b->nb_trailers++ == b->limits.fields)
		return wrong(b, -431);
	return http_is(c, HTTP_TOKEN) ? 0 : wrong(b, -400);
}

static int take_name(struct http_body *b, char c)
{
	if (c == ':')
		b->state = VALUE;
	return c == ':' || http_is(c, HTTP_TOKEN) ? 0 : wrong(b, -400);
}

static int take_value(struct http_body *b, char c)
{
	if (c == '\r')
		b->state = VALUE_LF;
	return c == '\r' || http_is(c, HTTP_TEXT) ? 0 : wrong(b, -400);
}

static int end_body(struct http_body *b, char c)
{
	b->is_done = true;
	return c == '\n' ? 0 : wrong(b, -400);
}

/* One byte that is not content. */
static int step(struct http_body *b, char c)
{
	if (b->state >= TRAILER && b->trailers++ == HTTP_TRAILERS_MAX)
		return wrong(b, -431);
	switch ((enum state)b->state) {
	case SIZE:
		return take_size(b, c);
	case EXTENSION:
		return take_extension(b, c);
	case SIZE_LF:
		return end_size(b, c);
	case CONTENT_CR:
		return expect(b, c, '\r', CONTENT_LF);
	case CONTENT_LF:
		return next_chunk(b, c);
	case TRAILER:
		return take_trailer(b, c);
	case NAME:
		return take_name(b, c);
	case VALUE:
		return take_value(b, c);
	case VALUE_LF:
		return expect(b, c, '\n', TRAILER);
	case END_LF:
		return end_body(b, c);
	case CONTENT:
		break;
	}
	__builtin_unreachable();
}

static size_t take_content(struct http_body *b, const char *buf, size_t n, struct http_str *content)
{
	if (n > b->left)
		n = b->left;
	b->left -= n;
	*content = (struct http_str){buf, n};
	return n;
}

static ssize_t take_chunked(
	struct http_body *b, const char *buf, size_t n, struct http_str *content)
{
	size_t at = 0;

	while (at < n && !b->is_done && content->n == 0) {
		int rc;

		if (b->state == CONTENT) {
			at += take_content(b, buf + at, n - at, content);
			if (b->left == 0)
				b->state = CONTENT_CR;
			continue;
		}
		rc = step(b, buf[at++]);
		if (rc < 0)
			return rc;
	}
	return (ssize_t)at;
}

ssize_t http_body_take(struct http_body *b, const char *buf, size_t n, struct http_str *content)
{
	*content = (struct http_str){buf, 0};
	if (b->is_done)
		return 0;
	switch (b->framing) {
	case HTTP_NO_BODY:
		return 0;
	case HTTP_CHUNKED:
		return take_chunked(b, buf, n, content);
	case HTTP_LENGTH:
		n = take_content(b, buf, n, content);
		b->is_done = b->left == 0;
		return (ssize_t)n;
	case HTTP_UNTIL_CLOSE:
		return n > 0 && b->left == 0 ? -413 : (ssize_t)take_content(b, buf, n, content);
	}
	__builtin_unreachable();
}

int http_body_close(struct http_body *b)
{
	if (b->framing == HTTP_UNTIL_CLOSE)
		b->is_done = true;
	return b->is_done ? 0 : wrong(b, -400);
}
