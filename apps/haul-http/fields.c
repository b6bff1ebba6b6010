/* SPDX-License-Identifier: BSD-3-Clause */
#include "fields.h"

#include "span.h"
#include "start.h"

/* RFC 9112, 3.2: one, and valid. That of a whole URI as target has priority. */
static int take_host(struct http_head *h, struct http_str value)
{
	if (h->had_host || (value.n > 0 && !http_is_authority(value)))
		return -400;
	h->had_host = true;
	if (h->host.n == 0)
		h->host = http_span(h, value);
	return 0;
}

/* One number. RFC 9110, 8.6 would allow the same number again. */
static int take_length(struct http_head *h, struct http_str value)
{
	if (h->had_length || !http_number(value, &h->length))
		return -400;
	h->had_length = true;
	return h->length > INT64_MAX ? -413 : 0;
}

/* RFC 9112, 6.1 and 6.3: "chunked" comes last and once. We know no other coding, and refuse lists
 * with empty elements, which programs understand differently. */
static int take_coding(struct http_head *h, struct http_str value)
{
	bool chunked = false, others = false;
	struct http_str coding;

	if (h->had_coding)
		return -400;
	h->had_coding = true;
	if (http_is_text(value, "chunked"))
		return 0;
	while (http_list_next(&value, &coding)) {
		chunked = http_is_text(coding, "chunked");
		others |= !chunked;
	}
	return chunked && others ? -501 : -400;
}

static int take_connection(struct http_head *h, struct http_str value)
{
	struct http_str option;

	while (http_list_next(&value, &option)) {
		if (!http_is_all(option, HTTP_TOKEN))
			return -400;
		h->wants_close |= http_is_text(option, "close");
		h->wants_keep |= http_is_text(option, "keep-alive");
	}
	return 0;
}

/* RFC 9110, 10.1.1; HTTP/1.0 has no such field. */
static int take_expect(struct http_head *h, struct http_str value)
{
	if (h->minor == 0)
		return 0;
	if (!http_is_text(value, "100-continue"))
		return -417;
	h->expect_continue = true;
	return 0;
}

static int take_known(struct http_head *h, struct http_str name, struct http_str value)
{
	switch (name.n) {
	case sizeof("Host") - 1:
		return !h->is_response && http_is_text(name, "Host") ? take_host(h, value) : 0;
	case sizeof("Expect") - 1:
		return !h->is_response && http_is_text(name, "Expect") ? take_expect(h, value) : 0;
	case sizeof("Connection") - 1:
		return http_is_text(name, "Connection") ? take_connection(h, value) : 0;
	case sizeof("Content-Length") - 1:
		return http_is_text(name, "Content-Length") ? take_length(h, value) : 0;
	case sizeof("Transfer-Encoding") - 1:
		return http_is_text(name, "Transfer-Encoding") ? take_coding(h, value) : 0;
	default:
		return 0;
	}
}

/* A line that begins with a blank would continue the one before: RFC 9112, 5.2 forbids it. */
int http_field_take(struct http_head *h, struct http_str line)
{
	struct http_str name = {line.at, http_span_of(line, HTTP_TOKEN)}, value;

	if (name.n == 0 || name.n == line.n || line.at[name.n] != ':')
		return -400;
	if (h->nb_fields == h->limits.fields)
		return -431;
	value = http_trim(http_skip(line, name.n + 1));
	h->fields[h->nb_fields++] = (struct http_field){http_span(h, name), http_span(h, value)};
	return take_known(h, name, value);
}

static enum http_framing framing_of(const struct http_head *h)
{
	if (h->had_coding)
		return HTTP_CHUNKED;
	if (h->had_length)
		return h->length > 0 ? HTTP_LENGTH : HTTP_NO_BODY;
	return h->is_response ? HTTP_UNTIL_CLOSE : HTTP_NO_BODY;
}

static int end_request(struct http_head *h)
{
	bool has_content =
		h->method == HTTP_POST || h->method == HTTP_PUT || h->method == HTTP_PATCH;

	if (h->minor > 0 && !h->had_host)
		return -400;
	if (has_content && !h->had_length && !h->had_coding)
		return -411;
	if (h->framing == HTTP_NO_BODY)
		h->expect_continue = false;
	return 0;
}

static int end_response(struct http_head *h)
{
	/* We ask for no other protocol. */
	if (h->status == 101)
		return -502;
	/* RFC 9110, 8.6: these have no body, and nothing that says otherwise. */
	if (h->status < 200 || h->status == 204) {
		if (h->had_coding || h->length > 0)
			return -502;
		h->framing = HTTP_NO_BODY;
	}
	if (h->status == 304 || h->method == HTTP_HEAD)
		h->framing = HTTP_NO_BODY;
	return 0;
}

int http_fields_end(struct http_head *h)
{
	int rc;

	/* RFC 9112, 6.1: both, or the one that HTTP/1.0 does not know, is how requests are hidden
	 * from whoever understands the other one only. */
	if (h->had_coding && (h->had_length || h->minor == 0))
		return -400;
	h->framing = framing_of(h);
	rc = h->is_response ? end_response(h) : end_request(h);
	h->keep_alive = !h->wants_close && (h->minor > 0 || h->wants_keep) &&
		h->framing != HTTP_UNTIL_CLOSE;
	return rc;
}
