/* SPDX-License-Identifier: BSD-3-Clause */
#include "rdata.h"

#include <errno.h>

enum { ANY_LENGTH = 255 };

/* Bytes, names, and bytes behind them. */
static const struct layout {
	uint8_t type, before, names, after;
	bool compress;
} layouts[] = {
	{DNS_A, 4, 0, 0, false},
	{DNS_NS, 0, 1, 0, true},
	{3 /* MD */, 0, 1, 0, true},
	{4 /* MF */, 0, 1, 0, true},
	{DNS_CNAME, 0, 1, 0, true},
	{DNS_SOA, 0, 2, 20, true},
	{7 /* MB */, 0, 1, 0, true},
	{8 /* MG */, 0, 1, 0, true},
	{9 /* MR */, 0, 1, 0, true},
	{DNS_PTR, 0, 1, 0, true},
	{14 /* MINFO */, 0, 2, 0, true},
	{DNS_MX, 2, 1, 0, true},
	{17 /* RP */, 0, 2, 0, false},
	{18 /* AFSDB */, 2, 1, 0, false},
	{21 /* RT */, 2, 1, 0, false},
	{DNS_SIG, 18, 1, ANY_LENGTH, false},
	{26 /* PX */, 2, 2, 0, false},
	{DNS_AAAA, 16, 0, 0, false},
	{30 /* NXT */, 0, 1, ANY_LENGTH, false},
	{DNS_SRV, 6, 1, 0, false},
	{DNS_NAPTR, 0, 1, 0, false}, /* before: naptr_strings() */
	{36 /* KX */, 2, 1, 0, false},
	{DNS_DNAME, 0, 1, 0, false},
	{DNS_RRSIG, 18, 1, ANY_LENGTH, false},
	{DNS_NSEC, 0, 1, ANY_LENGTH, false},
};

static const struct layout *layout_of(unsigned type)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (layouts[i].type == type)
			return &layouts[i];
	return NULL;
}

/* Order, preference and three strings (RFC 3403, 4.1). */
static size_t naptr_strings(const uint8_t *rdata, size_t n)
{
	size_t at = 4;

	for (int i = 0; i < 3 && at < n; i++)
		at += 1u + rdata[at];
	return at;
}

int dns_rdata_copy(struct dns_out *o, const uint8_t *msg, size_t n, const struct dns_record *r)
{
	const struct layout *l = layout_of(r->type);
	size_t at = r->rdata, end = at + r->length, before, rest;

	if (!l) {
		dns_out_bytes(o, msg + at, r->length);
		return 0;
	}
	before = r->type == DNS_NAPTR ? naptr_strings(msg + at, r->length) : l->before;
	if (before > r->length)
		return -EBADMSG;
	dns_out_bytes(o, msg + at, before);
	at += before;
	for (int i = 0; i < l->names; i++) {
		uint8_t name[DNS_NAME_MAX];

		/* A name that ends inside the data, wherever its pointers lead. */
		if (at >= end || dns_name_read(msg, n, at, name, &at) < 0 || at > end)
			return -EBADMSG;
		dns_out_name(o, name, l->compress);
	}
	rest = end - at;
	if (l->after != ANY_LENGTH && rest != l->after)
		return -EBADMSG;
	dns_out_bytes(o, msg + at, rest);
	return 0;
}
