/* SPDX-License-Identifier: BSD-3-Clause */
#include "answer.h"

#include <haul/base.h>
#include <stdlib.h>

enum { COOKIE = 4 + DNS_COOKIE_CLIENT + 16, EDE = 4 + 2 };

static size_t ttls_at(size_t size)
{
	return (size + 1) & ~(size_t)1;
}

static const uint16_t *ttls_of(const struct dns_answer *a)
{
	return (const uint16_t *)(const void *)(a->bytes + ttls_at(a->size));
}

struct dns_answer *dns_answer_create(
	const uint8_t *records, size_t size, const uint16_t *ttls, unsigned nb_ttls)
{
	struct dns_answer *a = malloc(sizeof(*a) + ttls_at(size) + nb_ttls * sizeof(*ttls));

	if (!a)
		return NULL;
	*a = (struct dns_answer){.refs = 1, .size = (uint16_t)size, .nb_ttls = (uint16_t)nb_ttls};
	if (size > 0)
		memcpy(a->bytes, records, size);
	if (nb_ttls > 0)
		memcpy(a->bytes + ttls_at(size), ttls, nb_ttls * sizeof(*ttls));
	return a;
}

struct dns_answer *dns_answer_empty(unsigned rcode, uint32_t ttl, uint64_t now)
{
	struct dns_answer *a = dns_answer_create(NULL, 0, NULL, 0);

	if (a) {
		a->rcode = (uint16_t)rcode;
		a->ttl = ttl;
		a->made = now;
		a->prefetch_at = a->expires = a->dead_at = now + ttl * HAUL_S;
	}
	return a;
}

void dns_answer_release(struct dns_answer *a)
{
	if (a && --a->refs == 0)
		free(a);
}

size_t dns_answer_bytes(const struct dns_answer *a)
{
	return sizeof(*a) + ttls_at(a->size) + a->nb_ttls * sizeof(uint16_t);
}

/* Header and question. Returns their length. */
static inline size_t begin(
	uint8_t *out, const uint8_t *msg, const struct dns_query *q, unsigned flags, unsigned rcode)
{
	dns_put16(out, q->id);
	dns_put16(out + 2,
		DNS_QR | DNS_RA | flags | (rcode & DNS_RCODE) |
			(q->flags & (DNS_OPCODE | DNS_RD | DNS_CD)));
	dns_put16(out + 4, q->question > 0);
	memset(out + 6, 0, 6);
	if (out != msg && q->question > 0)
		memcpy(out + DNS_HEADER, msg + DNS_HEADER, q->question);
	return DNS_HEADER + (size_t)q->question;
}

static inline bool has_cookie(const struct dns_query *q, const struct dns_reply_opts *opts)
{
	return q->edns.nb_cookie > 0 && opts->server_cookie;
}

static inline size_t edns_size(const struct dns_query *q, const struct dns_reply_opts *opts)
{
	if (!q->edns.is_there)
		return 0;
	return DNS_OPT + (has_cookie(q, opts) ? COOKIE : 0) + (opts->ede != DNS_EDE_NONE ? EDE : 0);
}

/* Our own size is what we take, at any rate. */
static inline size_t end(uint8_t *out, size_t n, const struct dns_query *q, unsigned rcode,
	const struct dns_reply_opts *opts)
{
	uint8_t *at = out + n;

	if (!q->edns.is_there)
		return n;
	dns_put16(out + 10, 1);
	at[0] = 0;
	dns_put16(at + 1, DNS_OPT_TYPE);
	dns_put16(at + 3, DNS_UDP_SAFE);
	dns_put32(at + 5, rcode >> 4 << 24 | (q->edns.dnssec_ok ? 0x8000 : 0));
	dns_put16(at + 9, (unsigned)(edns_size(q, opts) - DNS_OPT));
	at += DNS_OPT;
	if (has_cookie(q, opts)) {
		dns_put16(at, DNS_OPTION_COOKIE);
		dns_put16(at + 2, COOKIE - 4);
		memcpy(at + 4, q->edns.cookie, DNS_COOKIE_CLIENT);
		memcpy(at + 4 + DNS_COOKIE_CLIENT, opts->server_cookie, 16);
		at += COOKIE;
	}
	if (opts->ede != DNS_EDE_NONE) {
		dns_put16(at, DNS_OPTION_EDE);
		dns_put16(at + 2, EDE - 4);
		dns_put16(at + 4, opts->ede);
		at += EDE;
	}
	return (size_t)(at - out);
}

/* The largest message that the client takes. */
static inline size_t limit(const struct dns_query *q, const struct dns_reply_opts *opts)
{
	return opts->is_stream || opts->max < q->edns.size ? opts->max : q->edns.size;
}

static inline void reduce_ttls(uint8_t *records, const struct dns_answer *a, uint64_t now)
{
	const uint16_t *ttls = ttls_of(a);
	bool is_stale = dns_answer_is_stale(a, now);
	/* A caller that has waited for it may have an older clock. */
	uint32_t age = now > a->made ? (uint32_t)((now - a->made) / HAUL_S) : 0;

	for (unsigned i = 0; i < a->nb_ttls; i++) {
		uint8_t *at = records + ttls[i];
		uint32_t ttl = dns_get32(at);

		dns_put32(at, is_stale ? DNS_STALE_TTL : ttl > age ? ttl - age : 0);
	}
}

size_t dns_write_answer(uint8_t *out, const uint8_t *msg, const struct dns_query *q,
	const struct dns_answer *a, const struct dns_reply_opts *opts)
{
	size_t n = DNS_HEADER + (size_t)q->question;

	if (n + a->size + edns_size(q, opts) > limit(q, opts))
		return dns_write_truncated(out, msg, q, opts);
	n = begin(out, msg, q, a->flags, a->rcode);
	memcpy(out + n, a->bytes, a->size);
	dns_put16(out + 6, a->nb_answers);
	dns_put16(out + 8, a->nb_authorities);
	reduce_ttls(out + n, a, opts->now);
	return end(out, n + a->size, q, a->rcode, opts);
}

size_t dns_write_error(uint8_t *out, const uint8_t *msg, const struct dns_query *q,
	enum dns_rcode rcode, const struct dns_reply_opts *opts)
{
	return end(out, begin(out, msg, q, 0, rcode), q, rcode, opts);
}

size_t dns_write_truncated(uint8_t *out, const uint8_t *msg, const struct dns_query *q,
	const struct dns_reply_opts *opts)
{
	return end(out, begin(out, msg, q, DNS_TC, DNS_NOERROR), q, DNS_NOERROR, opts);
}
