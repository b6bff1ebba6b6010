/* SPDX-License-Identifier: BSD-3-Clause */
#include "message.h"

#include <errno.h>

enum { FIXED = 10 }; /* type, class, TTL and length of a record */

void dns_walk_begin(struct dns_walk *w, const uint8_t *msg, size_t n, size_t at)
{
	*w = (struct dns_walk){.msg = msg, .n = n, .at = at};
	for (int i = 0; i < DNS_SECTIONS; i++)
		w->left[i] = dns_get16(msg + 6 + 2 * i);
}

int dns_walk_next(struct dns_walk *w, struct dns_record *r)
{
	const uint8_t *fixed;
	int at;

	while (w->left[w->section] == 0) {
		if (w->section == DNS_ADDITIONALS)
			return w->at == w->n ? 0 : -EBADMSG;
		w->section++;
	}
	at = dns_name_skip(w->msg, w->n, w->at);
	if (at < 0 || (size_t)at + FIXED > w->n)
		return -EBADMSG;
	fixed = w->msg + at;
	*r = (struct dns_record){
		.owner = (uint16_t)w->at,
		.rdata = (uint16_t)(at + FIXED),
		.length = dns_get16(fixed + 8),
		.type = dns_get16(fixed),
		.class = dns_get16(fixed + 2),
		.ttl = dns_get32(fixed + 4),
		.section = w->section,
	};
	if (r->rdata + (size_t)r->length > w->n)
		return -EBADMSG;
	w->at = r->rdata + (size_t)r->length;
	w->left[w->section]--;
	return 1;
}

/* RFC 7873, 5.2: only the first of several counts. */
static int take_cookie(struct dns_edns *e, const uint8_t *bytes, unsigned n)
{
	if (n != DNS_COOKIE_CLIENT && (n < 16 || n > DNS_COOKIE_MAX))
		return -EBADMSG;
	if (e->nb_cookie == 0) {
		memcpy(e->cookie, bytes, n);
		e->nb_cookie = (uint8_t)n;
	}
	return 0;
}

int dns_edns_read(struct dns_edns *e, const uint8_t *msg, const struct dns_record *r)
{
	const uint8_t *at = msg + r->rdata, *end = at + r->length;

	if (msg[r->owner] != 0)
		return -EBADMSG;
	e->is_there = true;
	e->dnssec_ok = r->ttl & 0x8000;
	e->rcode = (uint8_t)(r->ttl >> 24);
	e->version = (uint8_t)(r->ttl >> 16);
	e->size = r->class < DNS_UDP_PLAIN ? DNS_UDP_PLAIN : r->class;
	e->nb_cookie = 0;
	while (at < end) {
		unsigned code, n;

		if (end - at < 4)
			return -EBADMSG;
		code = dns_get16(at);
		n = dns_get16(at + 2);
		at += 4;
		if (n > (size_t)(end - at))
			return -EBADMSG;
		if (code == DNS_OPTION_COOKIE && take_cookie(e, at, n) < 0)
			return -EBADMSG;
		at += n;
	}
	return 0;
}
