/* SPDX-License-Identifier: BSD-3-Clause */
#include "start.h"

#include <arpa/inet.h>

#include "span.h"

enum { METHOD_MAX = 32 };

/* clang-format off */
static const struct {
	struct http_str name;
	enum http_method method;
} methods[] = {
	{{"GET", 3}, HTTP_GET}, {{"HEAD", 4}, HTTP_HEAD}, {{"POST", 4}, HTTP_POST},
	{{"PUT", 3}, HTTP_PUT}, {{"DELETE", 6}, HTTP_DELETE}, {{"OPTIONS", 7}, HTTP_OPTIONS},
	{{"PATCH", 5}, HTTP_PATCH}, {{"TRACE", 5}, HTTP_TRACE},
};
/* clang-format on */

/* The case of letters counts. */
static bool is_exactly(struct http_str s, struct http_str other)
{
	return s.n == other.n && memcmp(s.at, other.at, s.n) == 0;
}

static enum http_method method_of(struct http_str name)
{
	for (unsigned i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		if (is_exactly(name, methods[i].name))
			return methods[i].method;
	return HTTP_OTHER;
}

static bool is_digit(char c)
{
	return http_is(c, HTTP_DIGIT);
}

/* HTTP/1.x: a later minor version is understood as 1.1 (RFC 9110, 2.5). */
static int take_version(struct http_head *h, struct http_str s)
{
	if (s.n != 8 || memcmp(s.at, "HTTP/", 5) != 0 || !is_digit(s.at[5]) || s.at[6] != '.' ||
		!is_digit(s.at[7]))
		return -400;
	h->minor = s.at[7] != '0';
	return s.at[5] == '1' ? 0 : -505;
}

static bool is_address6(struct http_str s)
{
	char text[INET6_ADDRSTRLEN];
	struct in6_addr addr;

	if (s.n >= sizeof(text))
		return false;
	memcpy(text, s.at, s.n);
	text[s.n] = '\0';
	return inet_pton(AF_INET6, text, &addr) == 1;
}

static bool is_port(struct http_str s)
{
	uint64_t port;

	return s.n == 0 || (http_number(s, &port) && port <= UINT16_MAX);
}

bool http_is_authority(struct http_str s)
{
	size_t n;

	if (s.n > 0 && s.at[0] == '[') {
		const char *end = memchr(s.at, ']', s.n);

		if (!end || !is_address6((struct http_str){s.at + 1, (size_t)(end - s.at) - 1}))
			return false;
		n = (size_t)(end - s.at) + 1;
	} else {
		n = http_span_of(s, HTTP_HOST);
		if (n == 0)
			return false;
	}
	s = http_skip(s, n);
	return s.n == 0 || (s.at[0] == ':' && is_port(http_skip(s, 1)));
}

/* The length of the path with which s begins, or -1 if there is a '%' without two digits. */
static ssize_t path_length(struct http_str s)
{
	size_t n = 0;

	for (;;) {
		n += http_span_of(http_skip(s, n), HTTP_PATH);
		if (n == s.n || s.at[n] != '%')
			return (ssize_t)n;
		if (s.n - n < 3 || http_hex(s.at[n + 1]) < 0 || http_hex(s.at[n + 2]) < 0)
			return -1;
		n += 3;
	}
}

/* [PATH] ["?" QUERY], to the end. */
static int take_path(struct http_head *h, struct http_str s)
{
	ssize_t n = path_length(s);

	if (n < 0)
		return -400;
	h->path = http_span(h, (struct http_str){s.at, (size_t)n});
	s = http_skip(s, (size_t)n);
	if (s.n == 0)
		return 0;
	if (s.at[0] != '?' || !http_is_all(http_skip(s, 1), HTTP_QUERY))
		return -400;
	h->query = http_span(h, http_skip(s, 1));
	return 0;
}

/* A whole URI, as if we were a proxy: its host counts more than the field (RFC 9112, 3.2.2). */
static int take_uri(struct http_head *h, struct http_str s)
{
	size_t n;

	if (http_starts_with(s, "https://"))
		return -421;
	if (!http_starts_with(s, "http://"))
		return -400;
	s = http_skip(s, 7);
	for (n = 0; n < s.n && s.at[n] != '/' && s.at[n] != '?'; n++)
		continue;
	h->host = http_span(h, (struct http_str){s.at, n});
	if (!http_is_authority((struct http_str){s.at, n}))
		return -400;
	return take_path(h, http_skip(s, n));
}

static int take_target(struct http_head *h, struct http_str s)
{
	if (s.n > 0 && s.at[0] == '/')
		return take_path(h, s);
	if (s.n == 1 && s.at[0] == '*' && h->method == HTTP_OPTIONS) {
		h->path = http_span(h, s);
		return 0;
	}
	return take_uri(h, s);
}

int http_request_line(struct http_head *h, struct http_str line)
{
	struct http_str method = {line.at, http_span_of(line, HTTP_TOKEN)}, target;
	const char *blank;
	int rc;

	if (method.n == 0 || method.n == line.n || line.at[method.n] != ' ')
		return -400;
	target = http_skip(line, method.n + 1);
	blank = memchr(target.at, ' ', target.n);
	if (!blank)
		return -400;
	target.n = (size_t)(blank - target.at);
	rc = take_version(h, http_skip(line, method.n + target.n + 2));
	if (rc < 0)
		return rc;
	/* We are no proxy, and the bytes after a CONNECT are no requests. */
	if (method.n > METHOD_MAX || is_exactly(method, HTTP_STR("CONNECT")))
		return -501;
	h->method = method_of(method);
	h->method_name = http_span(h, method);
	return take_target(h, target);
}

int http_status_line(struct http_head *h, struct http_str line)
{
	const char *s = line.at;

	if (line.n < sizeof("HTTP/1.1 200 ") - 1 || s[8] != ' ' || s[12] != ' ' || s[9] < '1' ||
		s[9] > '5' || !is_digit(s[10]) || !is_digit(s[11]))
		return -400;
	h->status = (uint16_t)((s[9] - '0') * 100 + (s[10] - '0') * 10 + (s[11] - '0'));
	return take_version(h, (struct http_str){s, 8});
}
