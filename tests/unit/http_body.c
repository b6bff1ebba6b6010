/* SPDX-License-Identifier: BSD-3-Clause */
/* haul-http: bodies without their framing, in pieces of all sizes. */
#include "../../apps/haul-http/body.h"

#include <stdio.h>

#include "http_bed.h"
#include "support/suite.h"

enum { ROOM = 20, TRUNCATED = -1 };

struct row {
	const char *what;
	const char *bytes;
	int expected; /* bytes of the body, TRUNCATED, or an error */
	const char *content;
};

#define AFTER "GET"

/* clang-format off */
static const struct row chunked[] = {
	{"no content", "0\r\n\r\n" AFTER, 5, ""},
	{"a chunk", "5\r\nhello\r\n0\r\n\r\n" AFTER, 15, "hello"},
	{"two chunks", "3\r\nhel\r\n02\r\nlo\r\n0\r\n\r\n" AFTER, 21, "hello"},
	{"hexadecimal", "A\r\n0123456789\r\na\r\n0123456789\r\n000\r\n\r\n", 37,
		"01234567890123456789"},
	{"CR and LF as content", "4\r\n\r\n\r\n\r\n0\r\n\r\n", 14, "\r\n\r\n"},
	{"extensions", "1;a=b;c=\"d e\";f\r\nx\r\n0;last\r\n\r\n", 30, "x"},
	{"trailers", "0\r\nA: b\r\nC:\r\n\r\n" AFTER, 15, ""},
	{"sixteen digits", "0000000000000001\r\nx\r\n0\r\n\r\n", 26, "x"},
	{"seventeen digits", "00000000000000001\r\n", -400, ""},
	{"a size above 64 bits", "10000000000000005\r\nhello", -400, ""},
	{"a size of 2^64 - 1", "ffffffffffffffff\r\n", -413, ""},
	{"a chunk that is too large", "15\r\n", -413, ""},
	{"chunks that are too large", "10\r\n0123456789abcdef\r\n5\r\n", -413, "0123456789abcdef"},
	{"no size", "\r\n", -400, ""},
	{"an extension without size", ";a\r\n", -400, ""},
	{"0x", "0x5\r\nhello", -400, ""},
	{"a sign", "+5\r\nhello", -400, ""},
	{"a negative size", "-5\r\nhello", -400, ""},
	{"a blank before the size", " 5\r\nhello", -400, ""},
	{"a blank after the size", "5 \r\nhello", -400, ""},
	{"a blank before the extension", "5 ;a\r\nhello", -400, ""},
	{"LF alone after the size", "5\nhello", -400, ""},
	{"CR alone after the size", "5\rhello", -400, ""},
	{"LF in the extension", "5;a\nhello", -400, ""},
	{"CR alone in the extension", "5;a\rb\r\nhello", -400, ""},
	{"a control character in the extension", "5;a\x01\r\nhello", -400, ""},
	{"a chunk that is longer", "5\r\nhello!\r\n", -400, "hello"},
	{"another byte in place of CR", "5\r\nhello!\n0\r\n\r\n", -400, "hello"},
	{"LF alone after the chunk", "5\r\nhello\n0\r\n\r\n", -400, "hello"},
	{"CR alone after the chunk", "5\r\nhello\r0\r\n\r\n", -400, "hello"},
	{"LF alone at the end", "0\r\n\n", -400, ""},
	{"CR alone at the end", "0\r\n\rX", -400, ""},
	{"a trailer without colon", "0\r\nA\r\n\r\n", -400, ""},
	{"a trailer without name", "0\r\n: a\r\n\r\n", -400, ""},
	{"a trailer with a blank before the colon", "0\r\nA : b\r\n\r\n", -400, ""},
	{"a folded trailer", "0\r\nA: b\r\n c\r\n\r\n", -400, ""},
	{"LF alone after a trailer", "0\r\nA: b\n\r\n", -400, ""},
	{"a request in place of a trailer", "0\r\nGET / HTTP/1.1\r\n", -400, ""},
	{"no end", "5\r\nhello\r\n0\r\n", TRUNCATED, "hello"},
	{"half a chunk", "5\r\nhel", TRUNCATED, "hel"},
	{"nothing", "", TRUNCATED, ""},
};
/* clang-format on */

/* Takes pieces of at most so many bytes. */
static int decode(struct http_body *b, const char *bytes, size_t n, size_t piece, char *content)
{
	size_t at = 0, sum = 0;

	while (at < n && !b->is_done) {
		struct http_str part;
		size_t given = n - at < piece ? n - at : piece;
		const char *copy = bed_copy(bytes + at, given);
		ssize_t rc = http_body_take(b, copy, given, &part);

		content[sum] = '\0';
		if (rc < 0)
			return (int)rc;
		ck_assert(rc > 0 && (size_t)rc <= given);
		ck_assert(part.at >= copy && part.at + part.n <= copy + rc);
		memcpy(content + sum, part.at, part.n);
		sum += part.n;
		at += (size_t)rc;
	}
	content[sum] = '\0';
	return b->is_done ? (int)at : TRUNCATED;
}

START_TEST(chunks_in_pieces_of_all_sizes)
{
	const struct http_head h = {.framing = HTTP_CHUNKED, .limits = {.fields = 5}};

	for (unsigned i = 0; i < sizeof(chunked) / sizeof(chunked[0]); i++) {
		const struct row *r = &chunked[i];
		size_t n = strlen(r->bytes);

		for (size_t piece = 1; piece <= n + 1; piece++) {
			char content[64];
			struct http_body b;
			int rc;

			ck_assert_int_eq(http_body_init(&b, &h, ROOM), 0);
			rc = decode(&b, r->bytes, n, piece, content);
			ck_assert_msg(rc == r->expected && strcmp(content, r->content) == 0,
				"%s: %d, not %d: \"%s\"", r->what, rc, r->expected, content);
			if (rc >= TRUNCATED)
				ck_assert_int_eq(http_body_close(&b), rc >= 0 ? 0 : -400);
		}
	}
}
END_TEST

START_TEST(bodies_of_a_length)
{
	struct http_head h = {.framing = HTTP_LENGTH, .length = 5};
	struct http_body b;
	char content[64];

	for (size_t piece = 1; piece < 10; piece++) {
		ck_assert_int_eq(http_body_init(&b, &h, 5), 0);
		ck_assert_int_eq(decode(&b, "hello" AFTER, 8, piece, content), 5);
		ck_assert_str_eq(content, "hello");
	}
	ck_assert_int_eq(http_body_init(&b, &h, 5), 0);
	ck_assert_int_eq(decode(&b, "hell", 4, 9, content), TRUNCATED);
	ck_assert_int_eq(http_body_close(&b), -400);
	ck_assert_int_eq(http_body_init(&b, &h, 4), -413);
	h.framing = HTTP_NO_BODY;
	ck_assert_int_eq(http_body_init(&b, &h, 0), 0);
	ck_assert(b.is_done);
	ck_assert_int_eq(http_body_close(&b), 0);
}
END_TEST

START_TEST(bodies_until_the_end)
{
	const struct http_head h = {.framing = HTTP_UNTIL_CLOSE, .is_response = true};
	struct http_body b;
	char content[64];

	for (size_t piece = 1; piece < 10; piece++) {
		ck_assert_int_eq(http_body_init(&b, &h, 5), 0);
		ck_assert_int_eq(decode(&b, "hello", 5, piece, content), TRUNCATED);
		ck_assert_str_eq(content, "hello");
		ck_assert_int_eq(http_body_close(&b), 0);
		ck_assert_int_eq(http_body_init(&b, &h, 4), 0);
		ck_assert_int_eq(decode(&b, "hello", 5, piece, content), -413);
	}
}
END_TEST

START_TEST(wrong_responses_are_502)
{
	const struct http_head h = {.framing = HTTP_CHUNKED, .is_response = true};
	struct http_body b;
	char content[64];

	ck_assert_int_eq(http_body_init(&b, &h, ROOM), 0);
	ck_assert_int_eq(decode(&b, "x", 1, 1, content), -502);
	ck_assert_int_eq(http_body_init(&b, &h, ROOM), 0);
	ck_assert_int_eq(http_body_close(&b), -502);
	ck_assert_int_eq(http_body_init(&b, &h, ROOM), 0);
	ck_assert_int_eq(decode(&b, "0\r\nA:\r\n", 8, 1, content), -502); /* no field allowed */
	ck_assert_int_eq(http_body_init(&b, &h, ROOM), 0);
	ck_assert_int_eq(decode(&b, "15\r\n", 4, 1, content), -413);
}
END_TEST

/* What is dropped has limits, too. */
START_TEST(limits_of_extensions_and_trailers)
{
	const struct http_head h = {.framing = HTTP_CHUNKED, .limits = {.fields = 3}};
	static char bytes[2 * HTTP_TRAILERS_MAX];
	struct http_body b;
	char content[HTTP_EXTENSIONS_MAX];
	size_t n = 0;

	/* One more than the sum of many chunks may have. */
	for (unsigned i = 0; i <= HTTP_EXTENSIONS_MAX; i++) {
		struct http_str part;
		const char *chunk = i < HTTP_EXTENSIONS_MAX ? "1;a\r\nx\r\n" : "1;a";

		if (i == 0)
			ck_assert_int_eq(http_body_init(&b, &h, HTTP_EXTENSIONS_MAX), 0);
		for (size_t at = 0; at < strlen(chunk);) {
			ssize_t rc = http_body_take(&b, chunk + at, strlen(chunk) - at, &part);

			if (i == HTTP_EXTENSIONS_MAX) {
				ck_assert_int_eq(rc, -400);
				break;
			}
			ck_assert_int_gt(rc, 0);
			at += (size_t)rc;
		}
	}
	n = (size_t)sprintf(bytes, "0\r\nA: ");
	memset(bytes + n, 'b', HTTP_TRAILERS_MAX);
	ck_assert_int_eq(http_body_init(&b, &h, ROOM), 0);
	ck_assert_int_eq(decode(&b, bytes, n + HTTP_TRAILERS_MAX, 100, content), -431);
	strcpy(bytes + 3 + HTTP_TRAILERS_MAX - 4, "\r\n\r\n");
	ck_assert_int_eq(http_body_init(&b, &h, ROOM), 0);
	ck_assert_int_eq(decode(&b, bytes, strlen(bytes), 100, content), 3 + HTTP_TRAILERS_MAX);
	strcpy(bytes, "0\r\nA:\r\nB:\r\nC:\r\nD:\r\n\r\n");
	ck_assert_int_eq(http_body_init(&b, &h, ROOM), 0);
	ck_assert_int_eq(decode(&b, bytes, strlen(bytes), 100, content), -431);
}
END_TEST

SUITE_MAIN("http_body", {chunks_in_pieces_of_all_sizes}, {bodies_of_a_length},
	{bodies_until_the_end}, {wrong_responses_are_502}, {limits_of_extensions_and_trailers})
