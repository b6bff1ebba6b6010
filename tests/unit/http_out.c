/* SPDX-License-Identifier: BSD-3-Clause */
/* haul-http: heads that are printed are parsed back, and cannot be made to hold another one. */
#include "../../apps/haul-http/out.h"

#include <errno.h>
#include <stdio.h>

#include "../../apps/haul-http/body.h"
#include "http_bed.h"
#include "support/suite.h"

static char buf[512];

static struct http_out begin(uint32_t size)
{
	struct http_out o;

	http_out_init(&o, buf, size);
	return o;
}

START_TEST(responses_are_parsed_back)
{
	struct http_out o = begin(sizeof(buf));
	struct http_str value;
	struct http_head h;
	int n;

	http_out_status(&o, 206);
	http_out_date(&o, "Date", 784111777);
	http_out_number(&o, "Content-Length", UINT64_C(9223372036854775807));
	http_out_text(&o, "X", "a b\xe4");
	n = http_out_end(&o);
	http_response_init(&h, HTTP_GET, NULL);
	ck_assert_int_eq(http_head_parse(&h, buf, (size_t)n), n);
	ck_assert(h.status == 206 && h.length == INT64_MAX && h.nb_fields == 3);
	ck_assert_uint_eq(http_find(&h, "date", &value), 1);
	ck_assert(bed_is(value, "Sun, 06 Nov 1994 08:49:37 GMT"));
	ck_assert_uint_eq(http_find(&h, "x", &value), 1);
	ck_assert(bed_is(value, "a b\xe4"));
	ck_assert_int_eq(memcmp(buf, "HTTP/1.1 206 Partial Content\r\n", 30), 0);
}
END_TEST

START_TEST(requests_are_parsed_back)
{
	struct http_out o = begin(sizeof(buf));
	struct http_head h;
	int n;

	http_out_request(&o, "GET", HTTP_STR("/a%20b?c=[d]"), HTTP_STR("h:80"));
	http_out_number(&o, "X", 0);
	n = http_out_end(&o);
	http_request_init(&h, NULL);
	ck_assert_int_eq(http_head_parse(&h, buf, (size_t)n), n);
	ck_assert(bed_is(http_path(&h), "/a%20b") && bed_is(http_query(&h), "c=[d]"));
	ck_assert(bed_is(http_host(&h), "h:80") && bed_is(http_field_value(&h, 1), "0"));
}
END_TEST

static int with_field(const char *name, struct http_str value)
{
	struct http_out o = begin(sizeof(buf));

	http_out_status(&o, 200);
	http_out_field(&o, name, value);
	return http_out_end(&o);
}

static int with_request(const char *method, struct http_str target)
{
	struct http_out o = begin(sizeof(buf));

	http_out_request(&o, method, target, HTTP_STR("h"));
	return http_out_end(&o);
}

START_TEST(values_cannot_split_a_head)
{
	ck_assert_int_gt(with_field("A", HTTP_STR("")), 0);
	ck_assert_int_eq(with_field("A", HTTP_STR("b\r\nC: d")), -EINVAL);
	ck_assert_int_eq(with_field("A", HTTP_STR("b\n")), -EINVAL);
	ck_assert_int_eq(with_field("A", HTTP_STR("b\0")), -EINVAL);
	ck_assert_int_eq(with_field("A:", HTTP_STR("b")), -EINVAL);
	ck_assert_int_eq(with_field("A B", HTTP_STR("b")), -EINVAL);
	ck_assert_int_eq(with_field("", HTTP_STR("b")), -EINVAL);
	ck_assert_int_gt(with_request("GET", HTTP_STR("/")), 0);
	ck_assert_int_eq(with_request("GET", HTTP_STR("/ HTTP/1.1")), -EINVAL);
	ck_assert_int_eq(with_request("GET", HTTP_STR("/\r\n")), -EINVAL);
	ck_assert_int_eq(with_request("GET", HTTP_STR("/\t")), -EINVAL);
	ck_assert_int_eq(with_request("GET", HTTP_STR("")), -EINVAL);
	ck_assert_int_eq(with_request("GET /", HTTP_STR("/")), -EINVAL);
	ck_assert_int_eq(with_request("", HTTP_STR("/")), -EINVAL);
}
END_TEST

/* Not a byte is written beyond the buffer, and a part of a head is never taken for one. */
START_TEST(heads_fit)
{
	static const char text[] = "HTTP/1.1 200 OK\r\nA: 12\r\n\r\n";

	for (uint32_t size = 0; size < 40; size++) {
		struct http_out o = begin(size);
		int n;

		memset(buf, '#', sizeof(buf));
		http_out_status(&o, 200);
		http_out_number(&o, "A", 12);
		n = http_out_end(&o);
		ck_assert_int_eq(buf[size], '#');
		ck_assert_int_eq(n, size < sizeof(text) - 1 ? -ENOSPC : (int)sizeof(text) - 1);
		if (n > 0)
			ck_assert_int_eq(memcmp(buf, text, (size_t)n), 0);
	}
}
END_TEST

START_TEST(chunks_are_decoded)
{
	static const uint64_t sizes[] = {1, 15, 16, 255, 256, 4095, 65536, UINT32_MAX,
		UINT64_C(0x123456789abcdef0), UINT64_MAX};
	const struct http_head h = {.framing = HTTP_CHUNKED};
	char head[HTTP_CHUNK_HEAD_MAX], text[32];
	struct http_str content;
	struct http_body b;

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		unsigned n = http_chunk_head(head, sizes[i]);

		sprintf(text, "%llx\r\n", (unsigned long long)sizes[i]);
		ck_assert(n == strlen(text) && memcmp(head, text, n) == 0);
	}
	ck_assert_int_eq(http_body_init(&b, &h, 0), 0);
	ck_assert_uint_eq(http_chunk_head(head, 0), 5);
	ck_assert_int_eq(http_body_take(&b, head, 5, &content), 5);
	ck_assert(b.is_done);
}
END_TEST

SUITE_MAIN("http_out", {responses_are_parsed_back}, {requests_are_parsed_back},
	{values_cannot_split_a_head}, {heads_fit}, {chunks_are_decoded})
