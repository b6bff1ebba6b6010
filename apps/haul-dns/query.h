/* SPDX-License-Identifier: BSD-3-Clause */
/* A client's query, and the key by which its answer is found. */
#ifndef DNS_QUERY_H
#define DNS_QUERY_H

#include "message.h"
#include "siphash.h"

/* What an answer depends on. Two clients with equal keys get the same records. */
struct dns_key {
	uint64_t hash; /* of all below, with the secret of this process */
	uint64_t name_hash; /* of the name; a weaker one, for tables that no client fills */
	uint16_t type, class;
	uint8_t flags; /* enum dns_key_flags */
	uint8_t length; /* of the name, in bytes */
	uint64_t name[32]; /* folded; zeroes up to the next multiple of 8 bytes */
};

enum dns_key_flags { DNS_KEY_DO = 1, DNS_KEY_CD = 2 };

struct dns_query {
	uint16_t id, flags;
	uint16_t question; /* bytes of it behind the header; 0: none that can be sent back */
	struct dns_edns edns;
	struct dns_key key;
};

/*
 * Returns 0; the dns_rcode to answer with: FORMERR, NOTIMP (another opcode), BADVERS; or -EBADMSG:
 * not to be answered, as it has no header or is an answer. What dns_write_error() needs is set in
 * each case but the last.
 * A query has one question (RFC 9619) without compression, and no answers. Other records, such as
 * TSIG, are checked for their form and ignored.
 */
int dns_query_parse(
	struct dns_query *q, const uint8_t *msg, size_t n, const struct dns_secret *secret);

/* For a question that comes from elsewhere: name as on the wire, in any case of letters. */
void dns_key_make(struct dns_key *key, const uint8_t *name, size_t length, unsigned type,
	unsigned class, unsigned flags, const struct dns_secret *secret);

bool dns_key_equal(const struct dns_key *a, const struct dns_key *b);

static inline const uint8_t *dns_key_name(const struct dns_key *key)
{
	return (const uint8_t *)key->name;
}

/* Bytes of a key that are in use. */
static inline size_t dns_key_size(const struct dns_key *key)
{
	return offsetof(struct dns_key, name) + ((key->length + 7u) & ~7u);
}

#endif
