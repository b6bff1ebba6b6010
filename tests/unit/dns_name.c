/* SPDX-License-Identifier: BSD-3-Clause */
/* haul-dns: names at all their limits, compression and its abuse, text. */
#include "../../apps/haul-dns/name.h"

#include <errno.h>

#include "dns_bed.h"

static uint8_t name[DNS_NAME_MAX];
static size_t end;

/* bytes stand at offset 12, as nothing may point into a header. */
static int read_at(const char *bytes, size_t n, size_t at)
{
	uint8_t msg[1024] = {0};

	memcpy(msg + DNS_HEADER, bytes, n);
	end = 0;
	return dns_name_read(
		bed_copy(msg, DNS_HEADER + n), DNS_HEADER + n, DNS_HEADER + at, name, &end);
}

#define READ(bytes, at) read_at(bytes, sizeof(bytes) - 1, at)

/* RFC 1035, 4.1.4: F.ISI.ARPA, FOO.F.ISI.ARPA, ARPA and the root; at 20 there, at 12 here. */
START_TEST(example_of_the_rfc)
{
	static const char bytes[] = "\1F\3ISI\4ARPA\0\3FOO\xc0\x0c\xc0\x12\0";

	ck_assert_int_eq(READ(bytes, 0), 12);
	ck_assert_mem_eq(name, "\1F\3ISI\4ARPA", 12);
	ck_assert_uint_eq(end, DNS_HEADER + 12);
	ck_assert_int_eq(READ(bytes, 12), 16);
	ck_assert_mem_eq(name, "\3FOO\1F\3ISI\4ARPA", 16);
	ck_assert_uint_eq(end, DNS_HEADER + 18);
	ck_assert_int_eq(READ(bytes, 18), 6);
	ck_assert_mem_eq(name, "\4ARPA", 6);
	ck_assert_uint_eq(end, DNS_HEADER + 20);
	ck_assert_int_eq(READ(bytes, 20), 1);
	ck_assert_uint_eq(end, DNS_HEADER + 21);
}
END_TEST

START_TEST(wrong_names)
{
	ck_assert_int_eq(READ("", 0), -EBADMSG);
	ck_assert_int_eq(READ("\1", 0), -EBADMSG);
	ck_assert_int_eq(READ("\1a", 0), -EBADMSG);
	ck_assert_int_eq(READ("\xc0", 0), -EBADMSG);
	/* To itself, forwards, into the header, to a name that leads to it. */
	ck_assert_int_eq(READ("\xc0\x0c", 0), -EBADMSG);
	ck_assert_int_eq(READ("\xc0\x0e\0", 0), -EBADMSG);
	ck_assert_int_eq(READ("\xc0\x0b", 0), -EBADMSG);
	ck_assert_int_eq(READ("\1a\xc0\x0c", 0), -EBADMSG);
	ck_assert_int_eq(READ("\1a\xc0\x0e", 2), -EBADMSG);
	ck_assert_int_eq(READ("\1a\xc0\x0c\xc0\x0c", 4), -EBADMSG);
	/* Behind a pointer, only what is before its goal counts. */
	ck_assert_int_eq(READ("\1a\xc0\x0d\1b\xc0\x0c", 4), -EBADMSG);
	/* Reserved. */
	ck_assert_int_eq(READ("\x40\0", 0), -EBADMSG);
	ck_assert_int_eq(READ("\x80\0", 0), -EBADMSG);
}
END_TEST

/* 255 bytes and not one more, in one piece and with a pointer. */
START_TEST(the_longest_name)
{
	for (unsigned last = 59; last <= 63; last++) {
		uint8_t msg[DNS_HEADER + 500] = {0};
		size_t n = DNS_HEADER;
		bool fits = 3 * 64 + last + 2 <= DNS_NAME_MAX;

		for (int i = 0; i < 3; i++, n += 64)
			msg[n] = 63;
		msg[n] = (uint8_t)last;
		n += last + 2;
		ck_assert_int_eq(dns_name_read(bed_copy(msg, n), n, DNS_HEADER, name, &end),
			fits ? (int)n - DNS_HEADER : -EBADMSG);
		ck_assert_int_eq(
			dns_name_length(bed_copy(msg + DNS_HEADER, n - DNS_HEADER), n - DNS_HEADER),
			fits ? (int)n - DNS_HEADER : -EBADMSG);
		ck_assert_int_eq(
			dns_name_skip(bed_copy(msg, n), n, DNS_HEADER), fits ? (int)n : -EBADMSG);
		ck_assert_int_eq(
			dns_name_is(msg, n, DNS_HEADER, msg + DNS_HEADER, n - DNS_HEADER), true);
		/* The last label behind the others, which a pointer leads to. */
		msg[n] = (uint8_t)last;
		msg[DNS_HEADER + 3 * 64] = 0;
		dns_put16(msg + n + last + 1, 0xc000 | DNS_HEADER);
		ck_assert_int_eq(dns_name_read(msg, n + last + 3, n, name, &end),
			fits ? (int)n - DNS_HEADER : -EBADMSG);
	}
}
END_TEST

/* 127 labels of one byte, then 128; and a pointer behind each, which is how the work would grow. */
START_TEST(the_most_labels)
{
	for (int labels = 126; labels <= 129; labels++) {
		uint8_t msg[1024] = {0};
		size_t at = DNS_HEADER + 1;

		for (int i = 0; i < labels; i++, at += 4) {
			msg[at] = 1;
			msg[at + 1] = 'x';
			dns_put16(msg + at + 2, (unsigned)(0xc000 | (i > 0 ? at - 4 : DNS_HEADER)));
		}
		ck_assert_int_eq(dns_name_read(bed_copy(msg, at), at, at - 4, name, &end),
			labels <= 127 ? 2 * labels + 1 : -EBADMSG);
		ck_assert(labels > 127 || end == at);
	}
}
END_TEST

/* Pointers that lead to pointers cost nothing that is paid for by bytes of the name. */
START_TEST(pointers_are_counted)
{
	for (unsigned n = 120; n < 140; n++) {
		uint8_t msg[1024] = {0};
		size_t at = DNS_HEADER + 1;

		for (unsigned i = 0; i < n; i++, at += 2)
			dns_put16(msg + at, (unsigned)(0xc000 | (i > 0 ? at - 2 : DNS_HEADER)));
		ck_assert_int_eq(
			dns_name_read(msg, at, at - 2, name, &end), n <= 127 ? 1 : -EBADMSG);
	}
}
END_TEST

START_TEST(case_is_folded_as_the_reference_does)
{
	for (unsigned c = 0; c < 256; c++) {
		uint64_t word = UINT64_C(0x5b7a6140417f80ff);
		uint8_t expected = c >= 'A' && c <= 'Z' ? (uint8_t)(c + 32) : (uint8_t)c;

		ck_assert_uint_eq(dns_fold((uint8_t)c), expected);
		for (int i = 0; i < 8; i++)
			ck_assert_uint_eq((uint8_t)(dns_fold8((word & ~(UINT64_C(255) << 8 * i)) |
							    (uint64_t)c << 8 * i) >>
						  8 * i),
				expected);
	}
	ck_assert_uint_eq(dns_fold8(UINT64_C(0x5b7a6140417f80ff)), UINT64_C(0x5b7a6140617f80ff));
}
END_TEST

static bool below(const char *a, const char *b)
{
	uint8_t x[DNS_NAME_MAX] = {0}, y[DNS_NAME_MAX] = {0};
	int n = *a ? dns_name_parse(a, strlen(a), x) : 1,
	    m = *b ? dns_name_parse(b, strlen(b), y) : 1;

	return dns_name_is_below(x, (size_t)n, y, (size_t)m);
}

START_TEST(below_is_by_labels)
{
	ck_assert(below("www.example.com", "example.com"));
	ck_assert(below("example.com", "example.com"));
	ck_assert(below("example.com", ""));
	ck_assert(below("", ""));
	ck_assert(!below("badexample.com", "example.com"));
	ck_assert(!below("com", "example.com"));
	ck_assert(!below("", "com"));
	ck_assert(!below("example.com.evil.net", "example.com"));
	/* A label that ends in what looks like a name. */
	ck_assert(!dns_name_is_below((const uint8_t *)"\012xx\7example\3com", 16,
		(const uint8_t *)"\7example\3com", 13));
}
END_TEST

START_TEST(text_and_back)
{
	uint8_t odd[] = "\4a.b\xff\1\\", x[DNS_NAME_MAX];
	char text[DNS_NAME_TEXT], label[70];

	ck_assert_str_eq(dns_name_text(odd, text), "a\\046b\\255.\\092.");
	ck_assert_str_eq(dns_name_text((const uint8_t *)"", text), ".");
	ck_assert_int_eq(dns_name_parse("a-b_c.D1.", 9, x), 10);
	ck_assert_mem_eq(x, "\5a-b_c\2D1", 10);
	ck_assert_int_eq(dns_name_parse("", 0, x), -EINVAL);
	ck_assert_int_eq(dns_name_parse(".", 1, x), -EINVAL);
	ck_assert_int_eq(dns_name_parse("a..b", 4, x), -EINVAL);
	ck_assert_int_eq(dns_name_parse(".a", 2, x), -EINVAL);
	ck_assert_int_eq(dns_name_parse("a..", 3, x), -EINVAL);
	ck_assert_int_eq(dns_name_parse("a b", 3, x), -EINVAL);
	memset(label, 'x', sizeof(label));
	ck_assert_int_eq(dns_name_parse(label, 63, x), 65);
	ck_assert_int_eq(dns_name_parse(label, 64, x), -EINVAL);
}
END_TEST

/* 253 letters and dots are a name of 255 bytes. */
START_TEST(the_longest_text)
{
	char text[256], back[DNS_NAME_TEXT];
	uint8_t x[DNS_NAME_MAX];

	memset(text, 'x', sizeof(text));
	for (int i = 1; i < 255; i += 2)
		text[i] = '.';
	ck_assert_int_eq(dns_name_parse(text, 253, x), 255);
	dns_name_text(x, back);
	ck_assert_mem_eq(back, text, 253);
	ck_assert_int_eq(dns_name_parse(text, 254, x), 255);
	ck_assert_int_eq(dns_name_parse(text, 255, x), -EINVAL);
}
END_TEST

SUITE_MAIN("dns_name", {example_of_the_rfc}, {wrong_names}, {the_longest_name}, {the_most_labels},
	{pointers_are_counted}, {case_is_folded_as_the_reference_does}, {below_is_by_labels},
	{text_and_back}, {the_longest_text})
