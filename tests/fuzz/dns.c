/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * haul-dns under libFuzzer. The first byte of an input says what the others are: a client's query,
 * or the records of a reply whose header and question are right. Whatever comes in, what goes out
 * is well formed, as large as the client allows, and small if it is an error.
 */
#include <errno.h>
#include <haul/base.h>
#include <sys/mman.h>

#include "../../apps/haul-dns/reply.h"
#include "support/dns_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MAX = 1 << 16, TEXT = 1 << 23 };

static const struct dns_secret secret = {{1, 2}};
static uint8_t out[INPUT_MAX];
static char text[TEXT];

/* A copy that ends where memory does. */
static uint8_t *copy(const uint8_t *bytes, size_t n)
{
	static uint8_t *end;

	if (!end) {
		end = (uint8_t *)mmap(NULL, 3 * INPUT_MAX, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) +
			2 * INPUT_MAX;
		DNS_TEXT_CHECK(mprotect(end, INPUT_MAX, PROT_NONE) == 0);
	}
	return n > 0 ? memcpy(end - n, bytes, n) : end;
}

static void check(size_t n, const struct dns_query *q, const struct dns_reply_opts *opts)
{
	size_t client = opts->is_stream ? opts->max : q->edns.size;

	DNS_TEXT_CHECK(n <= opts->max && n <= client);
	bed_text(out, n, text);
	DNS_TEXT_CHECK(dns_get16(out) == q->id && dns_get16(out + 2) & DNS_QR);
}

/* Some addresses, more than a small datagram has room for. */
static const struct dns_answer *addresses(void)
{
	static struct dns_answer *a;

	if (!a) {
		uint8_t records[40 * 16];
		uint16_t ttls[40];

		for (unsigned i = 0; i < 40; i++) {
			memcpy(records + 16 * i, "\xc0\x0c\0\1\0\1\0\0\1\0\0\4\1\2\3\4", 16);
			ttls[i] = (uint16_t)(16 * i + 6);
		}
		a = dns_answer_create(records, sizeof(records), ttls, 40);
		a->nb_answers = 40;
	}
	return a;
}

static void query(const uint8_t *data, size_t n, unsigned how)
{
	static const uint8_t cookie[16];
	struct dns_reply_opts opts = {.now = 1,
		.max = how & 1    ? 1232
			: how & 2 ? 512
				  : DNS_MESSAGE_MAX,
		.is_stream = how & 4,
		.ede = how & 8 ? DNS_EDE_STALE : DNS_EDE_NONE,
		.server_cookie = how & 16 ? cookie : NULL};
	struct dns_query q;
	struct dns_key made;
	const uint8_t *msg = copy(data, n);
	int rc = dns_query_parse(&q, msg, n, &secret);

	if (rc == -EBADMSG) {
		DNS_TEXT_CHECK(n < DNS_HEADER || data[2] & 0x80);
		return;
	}
	if (rc > 0) {
		size_t length = dns_write_error(out, msg, &q, (enum dns_rcode)rc, &opts);

		check(length, &q, &opts);
		DNS_TEXT_CHECK(length <= n + DNS_OPT + 28 + 6);
		return;
	}
	dns_key_make(&made, msg + DNS_HEADER, q.key.length, q.key.type, q.key.class, q.key.flags,
		&secret);
	DNS_TEXT_CHECK(dns_key_equal(&made, &q.key));
	check(dns_write_answer(out, msg, &q, addresses(), &opts), &q, &opts);
	check(dns_write_truncated(out, msg, &q, &opts), &q, &opts);
}

/* Type, key flags, flags of the header, and the counts; then the records. */
static void reply(const uint8_t *data, size_t n, unsigned how)
{
	static const uint8_t types[8] = {
		DNS_A, DNS_CNAME, DNS_MX, DNS_SOA, DNS_NAPTR, DNS_ANY, DNS_SRV, DNS_DNAME};
	struct dns_keep_opts keep = {.now = HAUL_S, .stale = 100};
	struct dns_reply_opts opts = {
		.now = HAUL_S, .max = DNS_MESSAGE_MAX, .is_stream = true, .ede = DNS_EDE_NONE};
	static struct dns_random random;
	struct dns_reply_info info;
	struct dns_answer *a;
	struct dns_query q;
	struct dns_key key;
	struct dns_ask ask;
	uint8_t *msg;

	if (n < 4)
		return;
	dns_key_make(&key, (const uint8_t *)"\3www\7example\3com", 17, types[data[0] & 7], DNS_IN,
		how & 2 ? DNS_KEY_DO : 0, &secret);
	dns_ask_make(&ask, &key, &(struct dns_ask_opts){.same_case = true}, &random);
	n -= 4;
	msg = copy(out, DNS_HEADER + ask.question + n);
	memcpy(msg, ask.msg, DNS_HEADER + (size_t)ask.question);
	memcpy(msg + DNS_HEADER + ask.question, data + 4, n);
	n += DNS_HEADER + (size_t)ask.question;
	dns_put16(msg + 2, DNS_QR | (how & 4 ? 3 : 0));
	for (int i = 0; i < 3; i++)
		dns_put16(msg + 6 + 2 * i, data[1 + i]);
	if (dns_reply_judge(&ask, msg, n, false, &info) != DNS_REPLY_GOOD)
		return;
	if (dns_reply_keep(&a, &ask, msg, n, &keep) < 0)
		return;
	DNS_TEXT_CHECK(a->ttl <= DNS_TTL_MAX);
	dns_put16(ask.msg + 10, 0);
	DNS_TEXT_CHECK(
		dns_query_parse(&q, ask.msg, DNS_HEADER + (size_t)ask.question, &secret) == 0);
	check(dns_write_answer(out, ask.msg, &q, a, &opts), &q, &opts);
	opts.is_stream = false;
	check(dns_write_answer(out, ask.msg, &q, a, &opts), &q, &opts);
	dns_answer_release(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1 || size > INPUT_MAX / 2)
		return 0;
	if (data[0] & 0x80)
		reply(data + 1, size - 1, data[0]);
	else
		query(data + 1, size - 1, data[0]);
	return 0;
}
