/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a reply to what is kept of it. The answer section is walked once for each name of the chain:
 *
 *   question's name --CNAME--> next name --CNAME--> ... --> last name: data, or a negative answer
 *
 * and only records of the name at hand are taken, so whatever else a server sends is no use to it.
 */
#include <errno.h>
#include <haul/base.h>
#include <stdlib.h>

#include "rdata.h"
#include "reply.h"

enum { TTLS_MAX = DNS_REPLY_RECORDS_MAX };

struct keep {
	const struct dns_key *key;
	const uint8_t *msg;
	size_t n, at; /* at: of the first record */
	struct dns_out out;
	uint32_t ttl_max, ttl;
	uint16_t counts[2]; /* answers, authorities */
	unsigned nb_ttls;
	uint16_t *ttls; /* offsets in out, with header and question */
	/* Folded: the name at hand, the one that its alias leads to, the zone of the proofs. */
	uint8_t name[DNS_NAME_MAX], next[DNS_NAME_MAX], zone[DNS_NAME_MAX];
	size_t length, next_length, zone_length; /* 0: there is none */
};

/* What one name of the chain has. */
struct step {
	uint32_t data_ttl, alias_ttl; /* the least of the set (RFC 2181, 5.2) */
	unsigned data, aliases;
	struct dns_record alias;
};

/* RFC 2181, 8: a number with the upper bit set means 0. */
static uint32_t ttl_of(const struct keep *k, const struct dns_record *r)
{
	uint32_t ttl = r->ttl > INT32_MAX ? 0 : r->ttl;

	return ttl < k->ttl_max ? ttl : k->ttl_max;
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static bool is_owner(const struct keep *k, const struct dns_record *r)
{
	return r->class == k->key->class && dns_name_is(k->msg, k->n, r->owner, k->name, k->length);
}

static bool is_asked_for(const struct keep *k, unsigned type)
{
	return type == k->key->type || (k->key->type == DNS_ANY && !dns_type_is_meta(type));
}

/* The type that a signature is for. */
static unsigned covered(const struct keep *k, const struct dns_record *r)
{
	return r->type == DNS_RRSIG && r->length >= 18 ? dns_get16(k->msg + r->rdata) : 0;
}

static int copy(struct keep *k, const struct dns_record *r, uint32_t ttl)
{
	uint8_t owner[DNS_NAME_MAX];
	size_t end, at;

	if (dns_name_read(k->msg, k->n, r->owner, owner, &end) < 0)
		return -EBADMSG;
	if (k->nb_ttls == TTLS_MAX)
		return -E2BIG;
	at = dns_out_record(&k->out, owner, r->type, r->class, ttl);
	k->ttls[k->nb_ttls++] = (uint16_t)(at - 4);
	if (dns_rdata_copy(&k->out, k->msg, k->n, r) < 0)
		return -EBADMSG;
	dns_out_rdata_end(&k->out, at);
	k->counts[r->section == DNS_ANSWERS ? 0 : 1]++;
	k->ttl = least(k->ttl, ttl);
	return k->out.is_full ? -E2BIG : 0;
}

static void look(const struct keep *k, struct step *s)
{
	struct dns_record r;
	struct dns_walk w;

	*s = (struct step){.data_ttl = UINT32_MAX, .alias_ttl = UINT32_MAX};
	dns_walk_begin(&w, k->msg, k->n, k->at);
	while (dns_walk_next(&w, &r) > 0 && r.section == DNS_ANSWERS) {
		if (!is_owner(k, &r))
			continue;
		if (is_asked_for(k, r.type)) {
			s->data++;
			s->data_ttl = least(s->data_ttl, ttl_of(k, &r));
		} else if (r.type == DNS_CNAME) {
			s->alias = r;
			s->aliases++;
			s->alias_ttl = least(s->alias_ttl, ttl_of(k, &r));
		}
	}
}

static int read_folded(const struct keep *k, size_t at, uint8_t name[DNS_NAME_MAX])
{
	size_t end;
	int length = dns_name_read(k->msg, k->n, at, name, &end);

	if (length > 0)
		dns_name_fold(name, (size_t)length);
	return length;
}

/* True of the alias that stands for all below a name above this one (RFC 6672), and of its
 * signature. The CNAME that it makes of the name at hand must be the one in the reply. */
static bool is_dname(const struct keep *k, const struct dns_record *r)
{
	uint8_t owner[DNS_NAME_MAX], to[DNS_NAME_MAX];
	int length, to_length;
	size_t kept;

	if (r->class != k->key->class || (r->type != DNS_DNAME && covered(k, r) != DNS_DNAME))
		return false;
	length = read_folded(k, r->owner, owner);
	if (length < 0 || (size_t)length >= k->length ||
		!dns_name_is_below(k->name, k->length, owner, (size_t)length))
		return false;
	if (r->type != DNS_DNAME)
		return true;
	kept = k->length - (size_t)length;
	to_length = read_folded(k, r->rdata, to);
	return to_length > 0 && kept + (size_t)to_length == k->next_length &&
		memcmp(k->next, k->name, kept) == 0 &&
		memcmp(k->next + kept, to, (size_t)to_length) == 0;
}

static void note_signer(struct keep *k, const struct dns_record *r)
{
	int length = read_folded(k, r->rdata + 18u, k->zone);

	k->zone_length = length < 0 ? 0 : (size_t)length;
}

/* Copies what look() has counted. */
static int take(struct keep *k, const struct step *s)
{
	bool has_do = k->key->flags & DNS_KEY_DO;
	struct dns_record r;
	struct dns_walk w;
	int rc = 0;

	dns_walk_begin(&w, k->msg, k->n, k->at);
	while (rc == 0 && dns_walk_next(&w, &r) > 0 && r.section == DNS_ANSWERS) {
		unsigned signs = has_do ? covered(k, &r) : 0;

		if (s->aliases > 0 && (has_do || r.type == DNS_DNAME) && is_dname(k, &r)) {
			rc = copy(k, &r, ttl_of(k, &r));
			continue;
		}
		if (!is_owner(k, &r))
			continue;
		if (s->data > 0 && is_asked_for(k, r.type))
			rc = copy(k, &r, s->data_ttl);
		else if (s->aliases > 0 && r.type == DNS_CNAME)
			rc = copy(k, &r, s->alias_ttl);
		else if (signs && (s->data > 0 ? is_asked_for(k, signs) : signs == DNS_CNAME)) {
			note_signer(k, &r);
			rc = copy(k, &r,
				least(ttl_of(k, &r), s->data > 0 ? s->data_ttl : s->alias_ttl));
		}
	}
	return rc;
}

/* Returns 1 if the last name has data, 0 if it has none, or an error. */
static int follow(struct keep *k)
{
	struct step s;

	for (int i = 0; i <= DNS_CHAIN_MAX; i++) {
		int rc = 0;

		look(k, &s);
		/* RFC 2181, 10.1: a name has one alias, and then nothing else. */
		if (s.aliases > 1 || (s.aliases > 0 && s.data > 0))
			return -EBADMSG;
		if (s.aliases > 0)
			rc = read_folded(k, s.alias.rdata, k->next);
		if (rc < 0)
			return rc;
		k->next_length = (size_t)rc;
		rc = take(k, &s);
		if (rc < 0 || s.aliases == 0)
			return rc < 0 ? rc : s.data > 0;
		k->length = k->next_length;
		memcpy(k->name, k->next, k->length);
	}
	return -EBADMSG;
}

/* RFC 2308, 5: the SOA says for how long. Its owner is above the name, or no authority for it. */
static int take_soa(struct keep *k, const struct dns_record *r, uint32_t negative_max)
{
	uint32_t ttl;
	int rc = read_folded(k, r->owner, k->zone);

	if (rc < 0 || r->length < 22)
		return -EBADMSG;
	k->zone_length = (size_t)rc;
	if (!dns_name_is_below(k->name, k->length, k->zone, k->zone_length)) {
		k->zone_length = 0;
		return 0;
	}
	ttl = least(ttl_of(k, r), dns_get32(k->msg + r->rdata + r->length - 4));
	return copy(k, r, least(ttl, negative_max));
}

/* Of the zone that is known: proofs that there is no such name, and signatures of these. */
static int take_proof(struct keep *k, const struct dns_record *r)
{
	unsigned type = r->type == DNS_RRSIG ? covered(k, r) : r->type;
	uint8_t owner[DNS_NAME_MAX];
	int length;

	if (type != DNS_NSEC && type != DNS_NSEC3 &&
		(type != DNS_SOA || r->type != DNS_RRSIG || k->counts[1] == 0))
		return 0;
	length = read_folded(k, r->owner, owner);
	if (length < 0)
		return -EBADMSG;
	if (!dns_name_is_below(k->name, k->length, k->zone, k->zone_length) ||
		!dns_name_is_below(owner, (size_t)length, k->zone, k->zone_length))
		return 0;
	return copy(k, r, least(ttl_of(k, r), k->ttl));
}

/* Returns 1 if the servers of another zone are named, and so there is no answer. */
static int authorities(struct keep *k, bool negative, uint32_t negative_max)
{
	bool has_soa = false, has_ns = false;
	struct dns_record r;
	struct dns_walk w;
	int rc = 0;

	dns_walk_begin(&w, k->msg, k->n, k->at);
	while (negative && rc == 0 && dns_walk_next(&w, &r) > 0) {
		if (r.section != DNS_AUTHORITIES || r.class != k->key->class)
			continue;
		has_ns |= r.type == DNS_NS;
		if (r.type == DNS_SOA && !has_soa) {
			rc = take_soa(k, &r, negative_max);
			has_soa = k->zone_length > 0;
		}
	}
	if (negative && !has_soa) {
		k->ttl = 0; /* RFC 2308, 5: not to be kept */
		return rc < 0 ? rc : has_ns;
	}
	if (!(k->key->flags & DNS_KEY_DO) || k->zone_length == 0)
		return rc;
	dns_walk_begin(&w, k->msg, k->n, k->at);
	while (rc == 0 && dns_walk_next(&w, &r) > 0)
		if (r.section == DNS_AUTHORITIES && r.class == k->key->class)
			rc = take_proof(k, &r);
	return rc;
}

static int take_all(struct keep *k, uint32_t negative_max)
{
	unsigned rcode = dns_get16(k->msg + 2) & DNS_RCODE;
	int has_data = follow(k), rc;

	if (has_data < 0)
		return has_data;
	if (has_data && rcode == DNS_NXDOMAIN)
		return -EBADMSG;
	if (!has_data)
		k->zone_length = 0;
	rc = authorities(k, !has_data, negative_max);
	/* A referral is what servers send that do not recurse: no answer. */
	if (rc > 0)
		return rcode == DNS_NOERROR ? -EBADMSG : 0;
	return rc;
}

static void set_times(struct dns_answer *a, const struct dns_keep_opts *opts)
{
	uint64_t life = a->ttl * HAUL_S;

	a->made = opts->now;
	a->expires = opts->now + life;
	/* The last tenth; not worth it for a few seconds. */
	a->prefetch_at = a->ttl < 10 ? a->expires : a->expires - life / 10;
	a->dead_at = a->ttl > 0 ? a->expires + opts->stale * HAUL_S : a->expires;
}

static struct dns_answer *make(struct keep *k, const struct dns_keep_opts *opts)
{
	size_t before = DNS_HEADER + k->key->length + 4u;
	struct dns_answer *a;

	for (unsigned i = 0; i < k->nb_ttls; i++)
		k->ttls[i] = (uint16_t)(k->ttls[i] - before);
	a = dns_answer_create(k->out.buf + before, k->out.n - before, k->ttls, k->nb_ttls);
	if (!a)
		return NULL;
	a->rcode = dns_get16(k->msg + 2) & DNS_RCODE;
	a->nb_answers = k->counts[0];
	a->nb_authorities = k->counts[1];
	a->ttl = k->ttl == UINT32_MAX ? 0 : k->ttl;
	set_times(a, opts);
	return a;
}

int dns_reply_keep(struct dns_answer **answer, const struct dns_ask *ask, const uint8_t *msg,
	size_t n, const struct dns_keep_opts *opts)
{
	const struct dns_key *key = ask->key;
	/* Names get longer where compression is not allowed. */
	size_t room = 4 * n + 1024 < DNS_MESSAGE_MAX ? 4 * n + 1024 : DNS_MESSAGE_MAX;
	struct keep k = {.key = key,
		.msg = msg,
		.n = n,
		.at = DNS_HEADER + (size_t)ask->question,
		.ttl_max = opts->ttl_max > 0 ? opts->ttl_max : DNS_TTL_MAX,
		.ttl = UINT32_MAX,
		.length = key->length};
	uint8_t *memory = malloc(TTLS_MAX * sizeof(*k.ttls) + room);
	int rc;

	if (!memory)
		return -ENOMEM;
	k.ttls = (uint16_t *)(void *)memory;
	dns_out_init(&k.out, memory + TTLS_MAX * sizeof(*k.ttls), room);
	k.out.n = DNS_HEADER;
	memset(k.out.buf, 0, DNS_HEADER);
	memcpy(k.name, dns_key_name(key), key->length);
	dns_out_name(&k.out, k.name, false);
	dns_out_u16(&k.out, key->type);
	dns_out_u16(&k.out, key->class);
	rc = take_all(&k, opts->negative_max > 0 ? opts->negative_max : DNS_NEGATIVE_MAX);
	if (rc == 0) {
		*answer = make(&k, opts);
		rc = *answer ? 0 : -ENOMEM;
	}
	free(memory);
	return rc;
}
