/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Answers as they are kept, and the messages that clients get.
 *
 * What is kept are the records as they are behind a question of this length: pointers to offset 12
 * mean the name in the client's own question, whatever its case. So an answer is sent by a copy,
 * and by a change of its TTLs, whose places are known.
 */
#ifndef DNS_ANSWER_H
#define DNS_ANSWER_H

#include "query.h"

struct dns_answer {
	/* Points of the clock that the caller uses, in ns. */
	uint64_t made, prefetch_at, expires, dead_at, retry_at; /* retry_at: see dns_answer_age() */
	uint32_t refs; /* of the cache and its callers */
	uint32_t ttl; /* s */
	uint16_t rcode, flags; /* flags: DNS_AA or none */
	uint16_t nb_answers, nb_authorities, nb_ttls;
	uint16_t failures; /* of a failure: so many in a row (RFC 9520) */
	uint16_t size; /* bytes of the records */
	uint8_t bytes[]; /* the records; then, as uint16_t, the offsets of their TTLs */
};

enum dns_age {
	DNS_FRESH,
	DNS_AGEING, /* fresh, but soon to be asked for again if it is in demand */
	DNS_STALE, /* expired; serves if no server answers (RFC 8767) */
	DNS_DEAD,
};

enum { DNS_STALE_TTL = 30 }; /* s: what clients are told of stale records (RFC 8767, 4) */

static inline enum dns_age dns_answer_age(const struct dns_answer *a, uint64_t now)
{
	if (now < a->prefetch_at)
		return DNS_FRESH;
	if (now < a->expires)
		return DNS_AGEING;
	return now < a->dead_at ? DNS_STALE : DNS_DEAD;
}

/* True if it is sent as a stale one. What was never fresh, of ttl 0, is sent as it is. */
static inline bool dns_answer_is_stale(const struct dns_answer *a, uint64_t now)
{
	return now >= a->expires && a->dead_at > a->expires;
}

/* A copy of the records and of their offsets, with one reference. NULL: no memory. The times are
 * all 0. */
struct dns_answer *dns_answer_create(
	const uint8_t *records, size_t size, const uint16_t *ttls, unsigned nb_ttls);

/* An answer without records: a failure, or a fixed one. Fresh for ttl seconds. */
struct dns_answer *dns_answer_empty(unsigned rcode, uint32_t ttl, uint64_t now);

/* Gives a reference back, under the lock of the cache if that is shared. NULL is allowed. */
void dns_answer_release(struct dns_answer *a);

/* Bytes of memory. */
size_t dns_answer_bytes(const struct dns_answer *a);

struct dns_reply_opts {
	uint64_t now;
	size_t max; /* of the message, in bytes: at least 512, which must be at out */
	bool is_stream; /* the client's size of datagrams does not count */
	enum dns_ede ede; /* a reason, if the client knows EDNS */
	const uint8_t *server_cookie; /* 16 bytes, sent with the client's cookie if there is one */
};

/*
 * Each returns the length of the message at out. msg is the query's, and q what dns_query_parse()
 * made of it; out may be msg. Larger than the client takes: the message has no records, but
 * DNS_TC.
 */
size_t dns_write_answer(uint8_t *out, const uint8_t *msg, const struct dns_query *q,
	const struct dns_answer *a, const struct dns_reply_opts *opts);
size_t dns_write_error(uint8_t *out, const uint8_t *msg, const struct dns_query *q,
	enum dns_rcode rcode, const struct dns_reply_opts *opts);

/* Tells the client to come by TCP. */
size_t dns_write_truncated(uint8_t *out, const uint8_t *msg, const struct dns_query *q,
	const struct dns_reply_opts *opts);

#endif
