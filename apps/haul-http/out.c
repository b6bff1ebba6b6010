/* SPDX-License-Identifier: BSD-3-Clause */
#include "out.h"

#include <errno.h>

#include "date.h"

/* clang-format off */
static const struct {
	unsigned status;
	const char *text;
} reasons[] = {
	{100, "Continue"}, {200, "OK"}, {206, "Partial Content"}, {301, "Moved Permanently"},
	{304, "Not Modified"}, {400, "Bad Request"}, {403, "Forbidden"}, {404, "Not Found"},
	{405, "Method Not Allowed"}, {408, "Request Timeout"}, {411, "Length Required"},
	{412, "Precondition Failed"}, {413, "Content Too Large"}, {414, "URI Too Long"},
	{416, "Range Not Satisfiable"}, {417, "Expectation Failed"}, {421, "Misdirected Request"},
	{431, "Request Header Fields Too Large"}, {500, "Internal Server Error"},
	{501, "Not Implemented"}, {502, "Bad Gateway"}, {503, "Service Unavailable"},
	{504, "Gateway Timeout"}, {505, "HTTP Version Not Supported"},
};
/* clang-format on */

const char *http_reason(unsigned status)
{
	for (unsigned i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reasons[i].status == status)
			return reasons[i].text;
	return "";
}

void http_out_init(struct http_out *o, char *buf, uint32_t size)
{
	*o = (struct http_out){.buf = buf, .size = size};
}

void http_out_put(struct http_out *o, struct http_str text)
{
	if (text.n > o->size - o->n) {
		o->error = -ENOSPC;
		return;
	}
	memcpy(o->buf + o->n, text.at, text.n);
	o->n += (uint32_t)text.n;
}

static void put_text(struct http_out *o, const char *text)
{
	http_out_put(o, (struct http_str){text, strlen(text)});
}

void http_out_put_number(struct http_out *o, uint64_t number)
{
	char digits[20], *first = digits + sizeof(digits);

	do
		*--first = (char)('0' + number % 10);
	while ((number /= 10) > 0);
	http_out_put(o, (struct http_str){first, (size_t)(digits + sizeof(digits) - first)});
}

/* A part which must be of a class, and not be empty if it is a token. */
static void put_part(struct http_out *o, struct http_str text, enum http_class class)
{
	if (!http_is_all(text, class) || (class == HTTP_TOKEN && text.n == 0))
		o->error = -EINVAL;
	http_out_put(o, text);
}

void http_out_status(struct http_out *o, unsigned status)
{
	put_text(o, "HTTP/1.1 ");
	http_out_put_number(o, status);
	put_text(o, " ");
	put_text(o, http_reason(status));
	put_text(o, "\r\n");
}

void http_out_request(
	struct http_out *o, const char *method, struct http_str target, struct http_str host)
{
	put_part(o, (struct http_str){method, strlen(method)}, HTTP_TOKEN);
	put_text(o, " ");
	if (target.n == 0)
		o->error = -EINVAL;
	put_part(o, target, HTTP_PATH | HTTP_QUERY);
	put_text(o, " HTTP/1.1\r\n");
	http_out_field(o, "Host", host);
}

void http_out_field(struct http_out *o, const char *name, struct http_str value)
{
	put_part(o, (struct http_str){name, strlen(name)}, HTTP_TOKEN);
	put_text(o, ": ");
	put_part(o, value, HTTP_TEXT);
	put_text(o, "\r\n");
}

void http_out_text(struct http_out *o, const char *name, const char *value)
{
	http_out_field(o, name, (struct http_str){value, strlen(value)});
}

void http_out_number(struct http_out *o, const char *name, uint64_t value)
{
	put_part(o, (struct http_str){name, strlen(name)}, HTTP_TOKEN);
	put_text(o, ": ");
	http_out_put_number(o, value);
	put_text(o, "\r\n");
}

void http_out_date(struct http_out *o, const char *name, int64_t seconds)
{
	char text[HTTP_DATE_LENGTH];

	http_date_print(text, seconds);
	http_out_field(o, name, (struct http_str){text, sizeof(text)});
}

int http_out_end(struct http_out *o)
{
	put_text(o, "\r\n");
	return o->error ? o->error : (int)o->n;
}

unsigned http_chunk_head(char text[HTTP_CHUNK_HEAD_MAX], uint64_t n)
{
	unsigned at = 0, digits = 1;

	while (digits < 16 && n >> (4 * digits) > 0)
		digits++;
	while (digits > 0)
		text[at++] = "0123456789abcdef"[n >> (4 * --digits) & 15];
	memcpy(text + at, "\r\n\r\n", n > 0 ? 2 : 4);
	return at + (n > 0 ? 2 : 4);
}
