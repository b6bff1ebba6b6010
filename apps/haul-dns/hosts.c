/* SPDX-License-Identifier: BSD-3-Clause */
#include "hosts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "address.h"
#include "out.h"

struct record {
	struct record *next;
	uint16_t type, length;
	uint8_t rdata[];
};

struct host {
	struct host *next; /* of its bucket */
	struct record *first, **last;
	unsigned n;
	struct dns_key key; /* dns_key_size() bytes of it */
};

struct dns_hosts {
	struct dns_secret secret;
	uint64_t mask;
	unsigned names;
	struct host *buckets[];
};

/* A line without its comment. */
struct line {
	const char *at, *end;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Returns the length of the next word, which begins at l->at then; 0: none. */
static size_t next_word(struct line *l)
{
	size_t n = 0;

	while (l->at < l->end && is_blank(*l->at))
		l->at++;
	while (l->at + n < l->end && !is_blank(l->at[n]))
		n++;
	return n;
}

static struct line line_at(const char *at, const char *end)
{
	const char *lf = memchr(at, '\n', (size_t)(end - at)), *comment;

	if (lf)
		end = lf;
	comment = memchr(at, '#', (size_t)(end - at));
	return (struct line){at, comment ? comment : end};
}

static struct host *find(const struct dns_hosts *h, const struct dns_key *key)
{
	struct host *host = h->buckets[key->name_hash & h->mask];

	while (host &&
		(host->key.name_hash != key->name_hash || host->key.length != key->length ||
			memcmp(host->key.name, key->name, key->length) != 0))
		host = host->next;
	return host;
}

/* The host of that name; a new one if need be. NULL: no memory. */
static struct host *host_of(struct dns_hosts *h, const uint8_t *name, size_t length)
{
	struct host *host, **bucket;
	struct dns_key key;

	dns_key_make(&key, name, length, 0, DNS_IN, 0, &h->secret);
	host = find(h, &key);
	if (host)
		return host;
	host = malloc(offsetof(struct host, key) + dns_key_size(&key));
	if (!host)
		return NULL;
	bucket = &h->buckets[key.name_hash & h->mask];
	host->next = *bucket;
	host->first = NULL;
	host->last = &host->first;
	host->n = 0;
	memcpy(&host->key, &key, dns_key_size(&key));
	*bucket = host;
	h->names++;
	return host;
}

static bool has_record(const struct host *host, unsigned type, const void *rdata, size_t length)
{
	for (const struct record *r = host->first; r; r = r->next)
		if (r->type == type && r->length == length && memcmp(r->rdata, rdata, length) == 0)
			return true;
	return false;
}

/* Returns 0 or -ENOMEM. More addresses than an answer has are left out. */
static int add(struct host *host, unsigned type, const void *rdata, size_t length)
{
	struct record *r;

	if (host->n == DNS_HOSTS_ANSWERS_MAX || has_record(host, type, rdata, length))
		return 0;
	r = malloc(sizeof(*r) + length);
	if (!r)
		return -ENOMEM;
	r->next = NULL;
	r->type = (uint16_t)type;
	r->length = (uint16_t)length;
	memcpy(r->rdata, rdata, length);
	*host->last = r;
	host->last = &r->next;
	host->n++;
	return 0;
}

/* 1.2.0.192.in-addr.arpa or the 32 digits of ip6.arpa (RFC 3596, 2.5). Returns its length. */
static size_t reverse_name(uint8_t name[DNS_NAME_MAX], const struct haul_addr *address)
{
	const uint8_t *bytes = address->bytes;
	static const char digits[] = "0123456789abcdef";
	char text[80], *to = text;

	if (address->version == 4) {
		to += sprintf(
			to, "%u.%u.%u.%u.in-addr.arpa", bytes[3], bytes[2], bytes[1], bytes[0]);
	} else {
		for (int i = 15; i >= 0; i--) {
			*to++ = digits[bytes[i] & 15];
			*to++ = '.';
			*to++ = digits[bytes[i] >> 4];
			*to++ = '.';
		}
		to += sprintf(to, "ip6.arpa");
	}
	return (size_t)dns_name_parse(text, (size_t)(to - text), name);
}

static int add_name(
	struct dns_hosts *h, const struct haul_addr *address, const uint8_t *name, int length)
{
	struct host *host = host_of(h, name, (size_t)length);

	if (!host)
		return -ENOMEM;
	return add(host, address->version == 4 ? DNS_A : DNS_AAAA, address->bytes,
		dns_address_size(address));
}

static int add_reverse(
	struct dns_hosts *h, const struct haul_addr *address, const uint8_t *name, int length)
{
	uint8_t reverse[DNS_NAME_MAX];
	struct host *host = host_of(h, reverse, reverse_name(reverse, address));

	if (!host)
		return -ENOMEM;
	return host->first ? 0 : add(host, DNS_PTR, name, (size_t)length);
}

static int take_line(struct dns_hosts *h, struct line *l)
{
	size_t n = next_word(l);
	struct haul_addr address;
	unsigned names = 0;
	int rc = 0;

	/* Addresses of one link, such as fe80::1%lo0, mean nothing to others. */
	if (n == 0 || memchr(l->at, '%', n))
		return 0;
	if (dns_address_parse(&address, l->at, n) < 0)
		return -EINVAL;
	for (l->at += n; rc == 0 && (n = next_word(l)) > 0; l->at += n, names++) {
		uint8_t name[DNS_NAME_MAX];
		int length = dns_name_parse(l->at, n, name);

		if (length < 0)
			return -EINVAL;
		rc = add_name(h, &address, name, length);
		if (rc == 0 && names == 0)
			rc = add_reverse(h, &address, name, length);
	}
	return rc < 0 ? rc : names > 0 ? 0 : -EINVAL;
}

/* An upper limit of the number of names, backwards ones included. */
static size_t count_words(const char *text, size_t n)
{
	size_t words = 1;

	for (size_t i = 1; i < n; i++)
		words += is_blank(text[i - 1]) || text[i - 1] == '\n';
	return words;
}

int dns_hosts_parse(struct dns_hosts **hosts, const char *text, size_t n,
	const struct dns_secret *secret, unsigned *wrong)
{
	const char *at = text, *end = text + n;
	struct dns_hosts *h;
	size_t words = count_words(text, n), buckets = 1;
	int rc = 0;

	while (buckets < words)
		buckets *= 2;
	h = calloc(1, sizeof(*h) + buckets * sizeof(h->buckets[0]));
	if (!h)
		return -ENOMEM;
	h->secret = *secret;
	h->mask = buckets - 1;
	for (*wrong = 1; rc == 0 && at < end; (*wrong)++) {
		struct line l = line_at(at, end);
		const char *lf = memchr(at, '\n', (size_t)(end - at));

		rc = take_line(h, &l);
		if (rc < 0) {
			dns_hosts_free(h);
			return rc;
		}
		at = lf ? lf + 1 : end;
	}
	*hosts = h;
	return 0;
}

void dns_hosts_free(struct dns_hosts *h)
{
	for (uint64_t i = 0; h && i <= h->mask; i++) {
		while (h->buckets[i]) {
			struct host *host = h->buckets[i];

			h->buckets[i] = host->next;
			while (host->first) {
				struct record *r = host->first;

				host->first = r->next;
				free(r);
			}
			free(host);
		}
	}
	free(h);
}

unsigned dns_hosts_names(const struct dns_hosts *hosts)
{
	return hosts->names;
}

/* Owner, type, class, TTL, length, data. */
enum { FIXED = 12 };

/* A name that is one backwards, too, may have a PTR besides. */
enum { RECORDS_MAX = DNS_HOSTS_ANSWERS_MAX * (FIXED + 16) + FIXED + DNS_NAME_MAX };

/* Addresses, or the one name. */
static void make_answer(struct dns_answer *a, const struct host *host, const struct dns_query *q)
{
	uint8_t *at = a->bytes;

	for (const struct record *r = host->first; r; r = r->next) {
		if (r->type != q->key.type && q->key.type != DNS_ANY)
			continue;
		dns_put16(at, 0xc000 | DNS_HEADER);
		dns_put16(at + 2, r->type);
		dns_put16(at + 4, DNS_IN);
		dns_put32(at + 6, DNS_HOSTS_TTL);
		dns_put16(at + 10, r->length);
		memcpy(at + FIXED, r->rdata, r->length);
		at += FIXED + r->length;
		a->nb_answers++;
	}
	a->size = (uint16_t)(at - a->bytes);
	a->flags = DNS_AA;
	a->expires = a->dead_at = UINT64_MAX;
}

size_t dns_hosts_write(const struct dns_hosts *hosts, uint8_t *out, const uint8_t *msg,
	const struct dns_query *q, const struct dns_reply_opts *opts)
{
	const struct host *host = q->key.class == DNS_IN ? find(hosts, &q->key) : NULL;
	union {
		struct dns_answer answer;
		uint8_t bytes[sizeof(struct dns_answer) + RECORDS_MAX];
	} made;

	if (!host)
		return 0;
	made.answer = (struct dns_answer){0};
	make_answer(&made.answer, host, q);
	return dns_write_answer(out, msg, q, &made.answer, opts);
}
