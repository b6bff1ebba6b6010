/* SPDX-License-Identifier: BSD-3-Clause */
#include "head.h"

#include "fields.h"
#include "start.h"

const struct http_limits http_limits = {.line = 8000, .head = 16384, .fields = HTTP_FIELDS_MAX};

static void init(struct http_head *h, const struct http_limits *limits)
{
	memset(h, 0, offsetof(struct http_head, fields));
	h->limits = limits ? *limits : http_limits;
	if (h->limits.fields > HTTP_FIELDS_MAX)
		h->limits.fields = HTTP_FIELDS_MAX;
}

void http_request_init(struct http_head *h, const struct http_limits *limits)
{
	init(h, limits);
}

void http_response_init(
	struct http_head *h, enum http_method method, const struct http_limits *limits)
{
	init(h, limits);
	h->is_response = true;
	h->method = method;
}

static int too_long(const struct http_head *h)
{
	return h->in_fields ? -431 : -414;
}

/*
 * The line that begins at h->line. Returns 1, 0 if it has no end yet, or an error. A line ends by
 * CR LF: neither of them may stand alone, and there are no other control characters in a head.
 */
static int next_line(struct http_head *h, size_t n, struct http_str *line)
{
	size_t at = h->scanned, max = h->limits.line, stop;

	if (h->line + 2 > h->limits.head)
		return too_long(h);
	if (max > h->limits.head - 2 - h->line)
		max = h->limits.head - 2 - h->line;
	stop = h->line + max + 1;
	if (stop > n)
		stop = n;
	at += http_text_length((struct http_str){h->buf + at, stop - at});
	h->scanned = (uint32_t)at;
	if (at - h->line > max)
		return too_long(h);
	if (at == n)
		return 0;
	if (h->buf[at] != '\r')
		return -400;
	if (at + 1 == n)
		return 0;
	if (h->buf[at + 1] != '\n')
		return -400;
	*line = (struct http_str){h->buf + h->line, at - h->line};
	h->line = h->scanned = (uint32_t)at + 2;
	return 1;
}

/* Returns 0, or an error. */
static int take_start(struct http_head *h, struct http_str line)
{
	int rc;

	/* RFC 9112, 2.2: some clients send a CRLF too many after a body. */
	if (line.n == 0 && !h->is_response && !h->had_blank) {
		h->had_blank = true;
		return 0;
	}
	rc = h->is_response ? http_status_line(h, line) : http_request_line(h, line);
	h->in_fields = true;
	return rc;
}

static int parse(struct http_head *h, size_t n)
{
	struct http_str line;
	int rc;

	while ((rc = next_line(h, n, &line)) > 0) {
		if (h->in_fields && line.n == 0) {
			rc = http_fields_end(h);
			return rc < 0 ? rc : (int)h->line;
		}
		rc = h->in_fields ? http_field_take(h, line) : take_start(h, line);
		if (rc < 0)
			return rc;
	}
	return rc;
}

int http_head_parse(struct http_head *h, const char *buf, size_t n)
{
	h->buf = buf;
	if (h->result == 0) {
		h->result = parse(h, n);
		if (h->result < 0 && h->is_response)
			h->result = -502;
	}
	return h->result;
}

static struct http_str text(const struct http_head *h, struct http_span span)
{
	return (struct http_str){h->buf + span.at, span.n};
}

struct http_str http_method_name(const struct http_head *h)
{
	return text(h, h->method_name);
}

struct http_str http_path(const struct http_head *h)
{
	/* The target may be a URI without a path. */
	return h->path.n > 0 ? text(h, h->path) : HTTP_STR("/");
}

struct http_str http_query(const struct http_head *h)
{
	return text(h, h->query);
}

struct http_str http_host(const struct http_head *h)
{
	return text(h, h->host);
}

struct http_str http_field_name(const struct http_head *h, unsigned i)
{
	return text(h, h->fields[i].name);
}

struct http_str http_field_value(const struct http_head *h, unsigned i)
{
	return text(h, h->fields[i].value);
}

unsigned http_find(const struct http_head *h, const char *name, struct http_str *value)
{
	unsigned n = 0;

	for (unsigned i = 0; i < h->nb_fields; i++)
		if (http_is_text(http_field_name(h, i), name) && n++ == 0)
			*value = http_field_value(h, i);
	return n;
}
