/* SPDX-License-Identifier: BSD-3-Clause */
/* haul-http: heads that are taken, and those that are refused with their status. Each is also
 * parsed from all its beginnings, as it arrives byte by byte. */
#include "../../apps/haul-http/head.h"

#include <stdio.h>

#include "http_bed.h"
#include "support/suite.h"

#define HOST "Host: h\r\n"
#define GET "GET / HTTP/1.1\r\n" HOST
#define POST "POST / HTTP/1.1\r\n" HOST
#define END "\r\n"

enum { WHOLE = 0, MORE = 1 };

struct row {
	const char *what;
	const char *bytes;
	int expected; /* WHOLE: all bytes are the head; MORE: no end yet; or an error */
};

/* clang-format off */
static const struct row requests[] = {
	{"the shortest", "GET / HTTP/1.0\r\n\r\n", WHOLE},
	{"RFC 9112, 3", "GET /hello.txt HTTP/1.1\r\nUser-Agent: curl/7.64.1\r\n"
		"Host: www.example.com\r\nAccept-Language: en, mi\r\n\r\n", WHOLE},
	{"RFC 9112, 3.2.1", "GET /where?q=now HTTP/1.1\r\nHost: www.example.org\r\n\r\n", WHOLE},
	{"RFC 9112, 3.2.2", "GET http://www.example.org/pub/WWW/TheProject.html HTTP/1.1\r\n"
		"Host: www.example.org\r\n\r\n", WHOLE},
	{"RFC 9112, 3.2.4", "OPTIONS * HTTP/1.1\r\nHost: www.example.org\r\n\r\n", WHOLE},
	{"RFC 9112, 3.2.4, proxied", "OPTIONS http://www.example.org:8001 HTTP/1.1\r\n"
		"Host: www.example.org\r\n\r\n", WHOLE},
	{"a CRLF too many", "\r\n" GET END, WHOLE},
	{"two CRLFs too many", "\r\n\r\n" GET END, -400},
	{"no end", "GET / HTTP/1.1\r\nHost: h\r\n", MORE},
	{"half an end", GET "\r", MORE},
	{"nothing", "", MORE},
	{"TLS", "\x16\x03\x01\x02", -400},
	{"HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", -505},

	{"CONNECT", "CONNECT h:80 HTTP/1.1\r\n" HOST END, -501},
	{"another method", "BREW / HTTP/1.1\r\n" HOST END, WHOLE},
	{"a method in lower case", "get / HTTP/1.1\r\n" HOST END, WHOLE},
	{"a long method", "GETGETGETGETGETGETGETGETGETGETGET / HTTP/1.1\r\n" HOST END, -501},
	{"no method", " / HTTP/1.1\r\n" HOST END, -400},
	{"a blank before the method", " GET / HTTP/1.1\r\n" HOST END, -400},
	{"a method that is no token", "G:T / HTTP/1.1\r\n" HOST END, -400},
	{"the method alone", "GET\r\n" HOST END, -400},
	{"no version: HTTP/0.9", "GET /\r\n", -400},
	{"two blanks before the target", "GET  / HTTP/1.1\r\n" HOST END, -400},
	{"two blanks after the target", "GET /  HTTP/1.1\r\n" HOST END, -400},
	{"a tab in place of a blank", "GET\t/ HTTP/1.1\r\n" HOST END, -400},
	{"a blank after the version", "GET / HTTP/1.1 \r\n" HOST END, -400},
	{"a blank in the target", "GET /a b HTTP/1.1\r\n" HOST END, -400},
	{"no target", "GET  HTTP/1.1\r\n" HOST END, -400},
	{"HTTP/1.2", "GET / HTTP/1.2\r\n" HOST END, WHOLE},
	{"HTTP/0.9", "GET / HTTP/0.9\r\n" HOST END, -505},
	{"HTTP/3.0", "GET / HTTP/3.0\r\n" HOST END, -505},
	{"HTTP/1.10", "GET / HTTP/1.10\r\n" HOST END, -400},
	{"HTTP/1", "GET / HTTP/1\r\n" HOST END, -400},
	{"http/1.1", "GET / http/1.1\r\n" HOST END, -400},
	{"HTTP/1,1", "GET / HTTP/1,1\r\n" HOST END, -400},
	{"HTTP/+.1", "GET / HTTP/+.1\r\n" HOST END, -400},

	{"a target without /", "GET a HTTP/1.1\r\n" HOST END, -400},
	{"* for GET", "GET * HTTP/1.1\r\n" HOST END, -400},
	{"a fragment", "GET /a#b HTTP/1.1\r\n" HOST END, -400},
	{"a fragment in the query", "GET /?a#b HTTP/1.1\r\n" HOST END, -400},
	{"% without digits", "GET /% HTTP/1.1\r\n" HOST END, -400},
	{"% with a digit", "GET /%2 HTTP/1.1\r\n" HOST END, -400},
	{"% with no digits", "GET /%2g HTTP/1.1\r\n" HOST END, -400},
	{"% with a digit and a letter", "GET /%g2 HTTP/1.1\r\n" HOST END, -400},
	{"% in the query", "GET /?100% HTTP/1.1\r\n" HOST END, WHOLE},
	{"brackets in the query", "GET /?a[]=1|2 HTTP/1.1\r\n" HOST END, WHOLE},
	{"brackets in the path", "GET /a[] HTTP/1.1\r\n" HOST END, -400},
	{"a quote in the path", "GET /\" HTTP/1.1\r\n" HOST END, -400},
	{"a backslash in the path", "GET /\\a HTTP/1.1\r\n" HOST END, -400},
	{"UTF-8 in the path", "GET /\xc3\xa4 HTTP/1.1\r\n" HOST END, -400},
	{"UTF-8 in the query", "GET /?\xc3\xa4 HTTP/1.1\r\n" HOST END, -400},
	{"two slashes", "GET //a//b HTTP/1.1\r\n" HOST END, WHOLE},
	{"an https URI", "GET https://h/ HTTP/1.1\r\n" HOST END, -421},
	{"an ftp URI", "GET ftp://h/ HTTP/1.1\r\n" HOST END, -400},
	{"a URI in upper case", "GET HTTP://H/ HTTP/1.1\r\n" HOST END, WHOLE},
	{"a URI without host", "GET http:///a HTTP/1.1\r\n" HOST END, -400},
	{"a URI with a user", "GET http://me@h/ HTTP/1.1\r\n" HOST END, -400},
	{"a URI with one slash", "GET http:/h/ HTTP/1.1\r\n" HOST END, -400},
	{"a URI without Host", "GET http://h/ HTTP/1.1\r\n\r\n", -400},

	{"no Host", "GET / HTTP/1.1\r\n\r\n", -400},
	{"two Hosts", GET HOST END, -400},
	{"two Hosts in HTTP/1.0", "GET / HTTP/1.0\r\n" HOST HOST END, -400},
	{"an empty Host", "GET / HTTP/1.1\r\nHost:\r\n\r\n", WHOLE},
	{"a Host with a port", "GET / HTTP/1.1\r\nhost: h:8080\r\n\r\n", WHOLE},
	{"a Host with an empty port", "GET / HTTP/1.1\r\nhost: h:\r\n\r\n", WHOLE},
	{"a Host with a large port", "GET / HTTP/1.1\r\nHost: h:65536\r\n\r\n", -400},
	{"a Host with a signed port", "GET / HTTP/1.1\r\nHost: h:+80\r\n\r\n", -400},
	{"a Host with two ports", "GET / HTTP/1.1\r\nHost: h:80:80\r\n\r\n", -400},
	{"a Host of a port", "GET / HTTP/1.1\r\nHost: :80\r\n\r\n", -400},
	{"a Host of IPv6", "GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", WHOLE},
	{"a Host of wrong IPv6", "GET / HTTP/1.1\r\nHost: [::g]\r\n\r\n", -400},
	{"a Host of half IPv6", "GET / HTTP/1.1\r\nHost: [::1\r\n\r\n", -400},
	{"a Host of IPv6 and more", "GET / HTTP/1.1\r\nHost: [::1]x\r\n\r\n", -400},
	{"a Host with a blank", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n", -400},
	{"a Host with a path", "GET / HTTP/1.1\r\nHost: h/a\r\n\r\n", -400},
	{"a Host with a user", "GET / HTTP/1.1\r\nHost: me@h\r\n\r\n", -400},
	{"two hosts in one field", "GET / HTTP/1.1\r\nHost: a b, c\r\n\r\n", -400},

	{"LF alone after the request line", "GET / HTTP/1.1\n" HOST END, -400},
	{"LF alone after a field", "GET / HTTP/1.1\r\nHost: h\n\r\n", -400},
	{"LF alone at the end", GET "\n", -400},
	{"CR alone in the request line", "GET /\r HTTP/1.1\r\n" HOST END, -400},
	{"CR alone in a value", GET "A: b\rc\r\n" END, -400},
	{"CR CR LF", GET "A: b\r\r\n" END, -400},
	{"CR LF CR and more", GET "\rX", -400},
	{"LF before the request", "\n" GET END, -400},
	{"a vertical tab", GET "A: b\vc\r\n" END, -400},
	{"a control character", GET "A: b\x01\r\n" END, -400},
	{"DEL", GET "A: b\x7f\r\n" END, -400},
	{"a tab in a value", GET "A: b\tc\r\n" END, WHOLE},
	{"latin-1 in a value", GET "A: \xe4\r\n" END, WHOLE},
	{"an empty value", GET "A:\r\n" END, WHOLE},
	{"blanks around a value", GET "A: \t b \t \r\n" END, WHOLE},
	{"a blank before the colon", GET "A : b\r\n" END, -400},
	{"a tab before the colon", GET "A\t: b\r\n" END, -400},
	{"a blank before the name", GET " A: b\r\n" END, -400},
	{"a blank before the first name", "GET / HTTP/1.1\r\n Host: h\r\n\r\n", -400},
	{"a folded field", GET "A: b\r\n c\r\n" END, -400},
	{"a field folded by a tab", GET "A: b\r\n\tc\r\n" END, -400},
	{"no colon", GET "A\r\n" END, -400},
	{"no name", GET ": b\r\n" END, -400},
	{"a name in quotes", GET "\"A\": b\r\n" END, -400},
	{"a name with latin-1", GET "\xe4: b\r\n" END, -400},
	{"a name with a slash", GET "a/b: c\r\n" END, -400},

	{"a length", POST "Content-Length: 5\r\n" END, WHOLE},
	{"a length of 0", POST "Content-Length: 0\r\n" END, WHOLE},
	{"a length with zeros", POST "Content-Length: 005\r\n" END, WHOLE},
	{"a length twice", POST "Content-Length: 5\r\nContent-Length: 5\r\n" END, -400},
	{"two lengths", POST "Content-Length: 5\r\nContent-length: 6\r\n" END, -400},
	{"two lengths in one", POST "Content-Length: 5, 5\r\n" END, -400},
	{"a positive length", POST "Content-Length: +5\r\n" END, -400},
	{"a negative length", POST "Content-Length: -5\r\n" END, -400},
	{"a length in hexadecimal", POST "Content-Length: 0x5\r\n" END, -400},
	{"a length with a blank", POST "Content-Length: 5 5\r\n" END, -400},
	{"a length with a fraction", POST "Content-Length: 5.0\r\n" END, -400},
	{"no length in the field", POST "Content-Length:\r\n" END, -400},
	{"a length in words", POST "Content-Length: five\r\n" END, -400},
	{"the largest length", POST "Content-Length: 9223372036854775807\r\n" END, WHOLE},
	{"a length that is negative in 64 bits", POST "Content-Length: 9223372036854775808\r\n"
		END, -413},
	{"a length of 2^64 + 5", POST "Content-Length: 18446744073709551621\r\n" END, -413},
	{"neither length nor chunks", POST END, -411},
	{"neither, in HTTP/1.0", "PUT / HTTP/1.0\r\n" END, -411},
	{"neither, for DELETE", "DELETE / HTTP/1.1\r\n" HOST END, WHOLE},

	{"chunks", POST "Transfer-Encoding: chunked\r\n" END, WHOLE},
	{"chunks in other letters", POST "transfer-encoding: CHUNKED\r\n" END, WHOLE},
	{"chunks twice", POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n" END,
		-400},
	{"chunks twice in one", POST "Transfer-Encoding: chunked, chunked\r\n" END, -400},
	{"chunks and length", POST "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n" END, -400},
	{"length and chunks", POST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n" END, -400},
	{"length of 0 and chunks", POST "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n" END,
		-400},
	{"chunks in HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", -400},
	{"gzip", POST "Transfer-Encoding: gzip\r\n" END, -400},
	{"gzip in chunks", POST "Transfer-Encoding: gzip, chunked\r\n" END, -501},
	{"chunks in gzip", POST "Transfer-Encoding: chunked, gzip\r\n" END, -400},
	{"identity", POST "Transfer-Encoding: identity\r\n" END, -400},
	{"no coding", POST "Transfer-Encoding:\r\n" END, -400},
	{"an empty coding and chunks", POST "Transfer-Encoding: ,chunked\r\n" END, -400},
	{"chunks and an empty coding", POST "Transfer-Encoding: chunked,\r\n" END, -400},
	{"xchunked", POST "Transfer-Encoding: xchunked\r\n" END, -400},
	{"chunked;q=1", POST "Transfer-Encoding: chunked;q=1\r\n" END, -400},
	{"chunks in quotes", POST "Transfer-Encoding: \"chunked\"\r\n" END, -400},
	{"chunks behind a vertical tab", POST "Transfer-Encoding: \vchunked\r\n" END, -400},
	{"chunks with a blank before the colon", POST "Transfer-Encoding : chunked\r\n" END, -400},
	{"chunks in a folded line", POST "Transfer-Encoding:\r\n chunked\r\n" END, -400},
	{"chunks behind LF", POST "A: b\nTransfer-Encoding: chunked\r\n" END, -400},
	{"chunks of a GET", GET "Transfer-Encoding: chunked\r\n" END, WHOLE},

	{"Connection", GET "Connection: close, Upgrade ,,\r\n" END, WHOLE},
	{"a Connection that is no token", GET "Connection: a b\r\n" END, -400},
	{"Expect", POST "Content-Length: 5\r\nExpect: 100-Continue\r\n" END, WHOLE},
	{"another Expect", POST "Content-Length: 5\r\nExpect: cake\r\n" END, -417},
	{"another Expect beside", POST "Content-Length: 5\r\nExpect: 100-continue, cake\r\n" END,
		-417},
	{"another Expect in HTTP/1.0", "GET / HTTP/1.0\r\nExpect: cake\r\n" END, WHOLE},
};

static const struct row responses[] = {
	{"the shortest", "HTTP/1.0 200 \r\n\r\n", WHOLE},
	{"RFC 9112, 4", "HTTP/1.1 200 OK\r\nContent-Length: 51\r\nVary: Accept-Encoding\r\n\r\n",
		WHOLE},
	{"no Host", "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", WHOLE},
	{"no blank after the status", "HTTP/1.1 200\r\n\r\n", -502},
	{"a status of two digits", "HTTP/1.1 20 OK\r\n\r\n", -502},
	{"a status of four digits", "HTTP/1.1 2000 OK\r\n\r\n", -502},
	{"status 099", "HTTP/1.1 099 OK\r\n\r\n", -502},
	{"status 600", "HTTP/1.1 600 OK\r\n\r\n", -502},
	{"status +20", "HTTP/1.1 +20 OK\r\n\r\n", -502},
	{"HTTP/2.0", "HTTP/2.0 200 OK\r\n\r\n", -502},
	{"ICY", "ICY 200 OK\r\n\r\n", -502},
	{"a CRLF before it", "\r\nHTTP/1.1 200 OK\r\n\r\n", -502},
	{"LF alone", "HTTP/1.1 200 OK\n\n", -502},
	{"other protocols", "HTTP/1.1 101 Switching\r\n\r\n", -502},
	{"a folded field", "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n", -502},
	{"chunks and length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n"
		"Transfer-Encoding: chunked\r\n\r\n", -502},
	{"two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n", -502},
	{"204 with a length", "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", -502},
	{"204 with a length of 0", "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n", WHOLE},
	{"204 with chunks", "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n", -502},
	{"100 with chunks", "HTTP/1.1 100 Go\r\nTransfer-Encoding: chunked\r\n\r\n", -502},
};
/* clang-format on */

static void check_row(const struct row *r, bool is_response)
{
	size_t n = strlen(r->bytes);
	struct http_head step, once;
	int rc = 0;

	if (is_response)
		http_response_init(&step, HTTP_GET, NULL);
	else
		http_request_init(&step, NULL);
	once = step;
	for (size_t i = 0; i <= n && rc == 0; i++) {
		struct http_head head = once;

		rc = http_head_parse(&step, bed_copy(r->bytes, i), i);
		ck_assert_int_eq(http_head_parse(&head, bed_copy(r->bytes, i), i), rc);
		ck_assert_msg(rc <= 0 || (size_t)rc == i, "%s: a length too early", r->what);
	}
	rc = rc > 0 ? WHOLE : rc == 0 ? MORE : rc;
	ck_assert_msg(rc == r->expected, "%s: %d, not %d", r->what, rc, r->expected);
	if (rc != MORE)
		ck_assert_int_eq(http_head_parse(&once, bed_copy(r->bytes, n), n), step.result);
}

START_TEST(requests_are_taken_or_refused)
{
	for (unsigned i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
		check_row(&requests[i], false);
}
END_TEST

START_TEST(responses_are_taken_or_refused)
{
	for (unsigned i = 0; i < sizeof(responses) / sizeof(responses[0]); i++)
		check_row(&responses[i], true);
}
END_TEST

static struct http_head request(const char *bytes)
{
	struct http_head h;

	http_request_init(&h, NULL);
	ck_assert_int_eq(http_head_parse(&h, bytes, strlen(bytes)), (int)strlen(bytes));
	return h;
}

static struct http_head response(enum http_method method, const char *bytes)
{
	struct http_head h;

	http_response_init(&h, method, NULL);
	ck_assert_int_eq(http_head_parse(&h, bytes, strlen(bytes)), (int)strlen(bytes));
	return h;
}

START_TEST(parts_of_a_request)
{
	struct http_head h = request("BREW /a%20b/?q=1?2 HTTP/1.1\r\nHost:\tpot:8080 \r\n"
				     "Accept: a\r\nX:\r\naccept:  b, c\t\r\n\r\n");
	struct http_str value;

	ck_assert(h.method == HTTP_OTHER && h.minor == 1 && h.keep_alive && !h.expect_continue);
	ck_assert(h.framing == HTTP_NO_BODY && h.nb_fields == 4);
	ck_assert(bed_is(http_method_name(&h), "BREW") && bed_is(http_path(&h), "/a%20b/"));
	ck_assert(bed_is(http_query(&h), "q=1?2") && bed_is(http_host(&h), "pot:8080"));
	ck_assert(bed_is(http_field_name(&h, 3), "accept"));
	ck_assert(bed_is(http_field_value(&h, 3), "b, c"));
	ck_assert_uint_eq(http_find(&h, "ACCEPT", &value), 2);
	ck_assert(bed_is(value, "a"));
	ck_assert_uint_eq(http_find(&h, "x", &value), 1);
	ck_assert_uint_eq(value.n, 0);
	ck_assert_uint_eq(http_find(&h, "accept-", &value), 0);
}
END_TEST

START_TEST(parts_of_targets)
{
	struct http_head h = request("GET http://a:1?q HTTP/1.1\r\nHost: b\r\n\r\n");

	ck_assert(bed_is(http_path(&h), "/") && bed_is(http_query(&h), "q"));
	ck_assert(bed_is(http_host(&h), "a:1"));
	h = request("GET http://[::1]/x HTTP/1.0\r\n\r\n");
	ck_assert(bed_is(http_path(&h), "/x") && bed_is(http_host(&h), "[::1]"));
	h = request("OPTIONS * HTTP/1.0\r\n\r\n");
	ck_assert(h.method == HTTP_OPTIONS && bed_is(http_path(&h), "*"));
	ck_assert(bed_is(http_host(&h), ""));
}
END_TEST

START_TEST(connections_are_kept)
{
	static const struct {
		const char *version, *field;
		bool kept;
	} rows[] = {
		{"1.1", "", true},
		{"1.1", "Connection: close\r\n", false},
		{"1.1", "Connection: x, CLOSE\r\n", false},
		{"1.1", "Connection: x\r\nConnection: close\r\n", false},
		{"1.1", "Connection: keep-alive, close\r\n", false},
		{"1.1", "Connection: closed\r\n", true},
		{"1.0", "", false},
		{"1.0", "Connection: Keep-Alive\r\n", true},
		{"1.0", "Connection: keep-alive, close\r\n", false},
		{"1.3", "", true},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[128];

		snprintf(text, sizeof(text), "GET / HTTP/%s\r\nHost: h\r\n%s\r\n", rows[i].version,
			rows[i].field);
		ck_assert_msg(request(text).keep_alive == rows[i].kept, "%s", text);
	}
}
END_TEST

START_TEST(bodies_of_requests)
{
	struct http_head h = request(POST "Content-Length: 0005\r\nExpect: 100-continue\r\n" END);

	ck_assert(h.framing == HTTP_LENGTH && h.length == 5 && h.expect_continue);
	h = request(POST "Content-Length: 0\r\nExpect: 100-continue\r\n" END);
	ck_assert(h.framing == HTTP_NO_BODY && !h.expect_continue);
	h = request(POST "Transfer-Encoding: Chunked\r\n" END);
	ck_assert(h.framing == HTTP_CHUNKED);
}
END_TEST

START_TEST(bodies_of_responses)
{
	static const char *const endless = "HTTP/1.1 200 OK\r\n\r\n",
				 *const chunked =
					 "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
				 *const sized = "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n",
				 *const same = "HTTP/1.1 304 -\r\nContent-Length: 7\r\n\r\n";
	struct http_head h = response(HTTP_GET, endless);

	ck_assert(h.framing == HTTP_UNTIL_CLOSE && !h.keep_alive && h.status == 200);
	ck_assert(response(HTTP_GET, chunked).framing == HTTP_CHUNKED);
	h = response(HTTP_GET, sized);
	ck_assert(h.framing == HTTP_LENGTH && h.length == 7 && h.keep_alive);
	ck_assert(response(HTTP_HEAD, endless).framing == HTTP_NO_BODY);
	ck_assert(response(HTTP_HEAD, chunked).framing == HTTP_NO_BODY);
	h = response(HTTP_HEAD, sized);
	ck_assert(h.framing == HTTP_NO_BODY && h.length == 7 && h.keep_alive);
	ck_assert(response(HTTP_GET, same).framing == HTTP_NO_BODY);
	ck_assert(response(HTTP_GET, "HTTP/1.1 100 Continue\r\n\r\n").framing == HTTP_NO_BODY);
}
END_TEST

START_TEST(nul_bytes_are_refused)
{
	static const char *const bytes = GET "A: b\r\n\r\n";

	for (size_t i = 0; i < strlen(bytes); i++) {
		struct http_head h;
		char copy[64];

		strcpy(copy, bytes);
		copy[i] = '\0';
		http_request_init(&h, NULL);
		ck_assert_int_eq(http_head_parse(&h, copy, strlen(bytes)), -400);
	}
}
END_TEST

START_TEST(eight_bytes_at_a_time_are_as_one)
{
	char bytes[20];

	for (unsigned c = 0; c < 256; c++)
		for (size_t at = 0; at < sizeof(bytes); at++)
			for (size_t n = at + 1; n <= sizeof(bytes); n++) {
				struct http_str s = {bytes, n};

				memset(bytes, (int)(c ^ 0x80), n);
				bytes[at] = (char)c;
				bytes[n - 1] ^= (char)(n % 3 == 0 ? 0x5f : 0);
				s.at = bed_copy(bytes, n);
				ASSERT_EACH(http_text_length(s) == http_span_of(s, HTTP_TEXT));
			}
}
END_TEST

/* The result of a head that is cut off at a limit: before the limit it is taken. */
static int limited(const char *bytes, struct http_limits limits)
{
	struct http_head h;
	size_t n = strlen(bytes);
	int rc = 0;

	http_request_init(&h, &limits);
	for (size_t i = 0; i <= n && rc == 0; i++)
		rc = http_head_parse(&h, bed_copy(bytes, i), i);
	return rc;
}

START_TEST(limits_hold)
{
	static const char *const bytes =
		"GET /12345 HTTP/1.1\r\nHost: 7890123456789\r\nA: b\r\n\r\n";
	const struct http_limits exact = {.line = 19, .head = 50, .fields = 2};
	struct http_limits l = exact;

	ck_assert_uint_eq(strlen(bytes), exact.head);
	ck_assert_int_eq(limited(bytes, exact), 50);
	l.line = 18;
	ck_assert_int_eq(limited(bytes, l), -414);
	ck_assert_int_eq(limited("GET / HTTP/1.1\r\nHost: 78901234567890\r\n", exact), -431);
	/* Without an end, too: nothing has to be kept beyond the limit. */
	ck_assert_int_eq(limited("GET /12345 HTTP/1.1\r\nHost: 78901234567890", exact), -431);
	ck_assert_int_eq(limited("GET /1234567890123456", exact), -414);
	for (l = exact; l.head > 0; l.head--)
		ck_assert_int_eq(limited(bytes, l), l.head == 50 ? 50 : l.head < 21 ? -414 : -431);
	l = exact;
	l.fields = 1;
	ck_assert_int_eq(limited(bytes, l), -431);
	l.fields = UINT16_MAX;
	ck_assert_int_eq(limited(bytes, l), 50);
}
END_TEST

START_TEST(there_are_at_most_so_many_fields)
{
	const struct http_limits l = {.line = 100, .head = 1000, .fields = UINT16_MAX};
	char bytes[1000] = "GET / HTTP/1.0\r\n";

	for (unsigned i = 0; i < HTTP_FIELDS_MAX; i++)
		strcat(bytes, "A: b\r\n");
	strcat(bytes, "\r\n");
	ck_assert_int_eq(limited(bytes, l), (int)strlen(bytes));
	strcpy(bytes + strlen(bytes) - 2, "A: b\r\n\r\n");
	ck_assert_int_eq(limited(bytes, l), -431);
}
END_TEST

START_TEST(heads_of_the_largest_size)
{
	static char bytes[UINT16_MAX + 1];
	const struct http_limits l = {.line = UINT16_MAX, .head = UINT16_MAX, .fields = 64};
	size_t n = (size_t)sprintf(bytes, "GET / HTTP/1.0\r\nA: ");
	struct http_head h;

	memset(bytes + n, 'b', UINT16_MAX - 4 - n);
	memcpy(bytes + UINT16_MAX - 4, "\r\n\r\n", 4);
	http_request_init(&h, &l);
	ck_assert_int_eq(http_head_parse(&h, bed_copy(bytes, UINT16_MAX), UINT16_MAX), UINT16_MAX);
	ck_assert_uint_eq(http_field_value(&h, 0).n, UINT16_MAX - 4 - n);
}
END_TEST

SUITE_MAIN("http_head", {requests_are_taken_or_refused}, {responses_are_taken_or_refused},
	{parts_of_a_request}, {parts_of_targets}, {connections_are_kept}, {bodies_of_requests},
	{bodies_of_responses}, {nul_bytes_are_refused}, {eight_bytes_at_a_time_are_as_one},
	{limits_hold}, {there_are_at_most_so_many_fields}, {heads_of_the_largest_size})
