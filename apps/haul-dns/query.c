/* SPDX-License-Identifier: BSD-3-Clause */
#include "query.h"

#include <errno.h>

/* Folds and hashes in one pass. Eight readable bytes are before the name's end, as is always so
 * behind a header. */
static inline void make_key(
	struct dns_key *key, const uint8_t *name, size_t length, const struct dns_secret *secret)
{
	struct dns_sip sip = dns_sip_begin(secret);
	size_t words = length / 8, rest = length % 8;

	for (size_t i = 0; i < words; i++) {
		key->name[i] = dns_fold8(dns_load64(name + 8 * i));
		dns_sip_take(&sip, key->name[i], 1);
	}
	if (rest > 0) {
		key->name[words] = dns_fold8(dns_load64(name + length - 8) >> 8 * (8 - rest));
		dns_sip_take(&sip, key->name[words], 1);
	}
	key->length = (uint8_t)length;
	key->name_hash = sip.v0 ^ sip.v1 ^ sip.v2 ^ sip.v3;
	dns_sip_take(&sip,
		key->type | (uint64_t)key->class << 16 | (uint64_t)key->flags << 32 |
			(uint64_t)length << 40,
		1);
	key->hash = dns_sip_end(&sip, 3);
}

void dns_key_make(struct dns_key *key, const uint8_t *name, size_t length, unsigned type,
	unsigned class, unsigned flags, const struct dns_secret *secret)
{
	uint8_t copy[8 + DNS_NAME_MAX] = {0};

	memcpy(copy + 8, name, length);
	key->type = (uint16_t)type;
	key->class = (uint16_t) class;
	key->flags = (uint8_t)flags;
	make_key(key, copy + 8, length, secret);
}

bool dns_key_equal(const struct dns_key *a, const struct dns_key *b)
{
	if (a->hash != b->hash || a->length != b->length || a->type != b->type ||
		a->class != b->class || a->flags != b->flags)
		return false;
	for (size_t i = 0; 8 * i < a->length; i++)
		if (a->name[i] != b->name[i])
			return false;
	return true;
}

/* The records behind the question, of which only OPT counts. */
static int take_records(struct dns_query *q, const uint8_t *msg, size_t n)
{
	struct dns_record r;
	struct dns_walk w;
	int rc;

	dns_walk_begin(&w, msg, n, DNS_HEADER + q->question);
	while ((rc = dns_walk_next(&w, &r)) > 0) {
		if (r.type != DNS_OPT_TYPE)
			continue;
		if (r.section != DNS_ADDITIONALS || q->edns.is_there)
			return DNS_FORMERR;
		if (dns_edns_read(&q->edns, msg, &r) < 0)
			return DNS_FORMERR;
	}
	return rc < 0 ? DNS_FORMERR : 0;
}

int dns_query_parse(
	struct dns_query *q, const uint8_t *msg, size_t n, const struct dns_secret *secret)
{
	int length, rc;

	q->question = 0;
	q->edns.is_there = q->edns.dnssec_ok = false;
	q->edns.nb_cookie = 0;
	q->edns.size = DNS_UDP_PLAIN;
	if (n < DNS_HEADER || n > DNS_MESSAGE_MAX)
		return -EBADMSG;
	q->id = dns_get16(msg);
	q->flags = dns_get16(msg + 2);
	if (q->flags & DNS_QR)
		return -EBADMSG;
	if (q->flags & DNS_OPCODE)
		return DNS_NOTIMP;
	/* One question, no answers. */
	if (dns_get32(msg + 4) != 0x10000)
		return DNS_FORMERR;
	length = dns_name_length(msg + DNS_HEADER, n - DNS_HEADER);
	if (length < 0 || DNS_HEADER + (size_t)length + 4 > n)
		return DNS_FORMERR;
	q->question = (uint16_t)(length + 4);
	q->key.type = dns_get16(msg + DNS_HEADER + length);
	q->key.class = dns_get16(msg + DNS_HEADER + length + 2);
	/* Mostly nothing follows, or an OPT. */
	if (n > DNS_HEADER + (size_t)q->question || dns_get32(msg + 8) != 0) {
		rc = take_records(q, msg, n);
		if (rc != 0)
			return rc;
	}
	if (q->key.type == 0 || q->key.type == DNS_OPT_TYPE)
		return DNS_FORMERR;
	if (q->edns.is_there && q->edns.version > 0)
		return DNS_BADVERS;
	q->key.flags = (uint8_t)((q->edns.dnssec_ok ? DNS_KEY_DO : 0) |
		(q->flags & DNS_CD ? DNS_KEY_CD : 0));
	make_key(&q->key, msg + DNS_HEADER, (size_t)length, secret);
	return 0;
}
