/* SPDX-License-Identifier: BSD-3-Clause */
#include "ask.h"

/* A bit for each byte decides about its case. */
static void mix_case(uint8_t *name, size_t length, struct dns_random *random)
{
	uint8_t bits[(DNS_NAME_MAX + 7) / 8];

	dns_random_take(random, bits, (length + 7) / 8);
	for (size_t i = 0; i < length; i++)
		if (name[i] >= 'a' && name[i] <= 'z' && bits[i / 8] >> i % 8 & 1)
			name[i] ^= 0x20;
}

static uint8_t *put_opt(uint8_t *at, const struct dns_ask *a, const uint8_t *cookie, bool do_bit)
{
	at[0] = 0;
	dns_put16(at + 1, DNS_OPT_TYPE);
	dns_put16(at + 3, DNS_UDP_SAFE);
	dns_put32(at + 5, do_bit ? 0x8000 : 0);
	dns_put16(at + 9, a->nb_cookie > 0 ? 4u + a->nb_cookie : 0);
	at += DNS_OPT;
	if (a->nb_cookie > 0) {
		dns_put16(at, DNS_OPTION_COOKIE);
		dns_put16(at + 2, a->nb_cookie);
		memcpy(at + 4, cookie, a->nb_cookie);
		at += 4 + a->nb_cookie;
	}
	return at;
}

void dns_ask_make(struct dns_ask *a, const struct dns_key *key, const struct dns_ask_opts *opts,
	struct dns_random *random)
{
	uint8_t *at = a->msg + DNS_HEADER;

	a->key = key;
	a->has_edns = !opts->without_edns;
	a->nb_cookie = a->has_edns && opts->cookie ? opts->nb_cookie : 0;
	memset(a->msg, 0, DNS_HEADER);
	dns_random_take(random, a->msg, 2);
	dns_put16(a->msg + 2, DNS_RD | (key->flags & DNS_KEY_CD ? DNS_CD : 0));
	dns_put16(a->msg + 4, 1);
	dns_put16(a->msg + 10, a->has_edns);
	memcpy(at, dns_key_name(key), key->length);
	if (!opts->same_case)
		mix_case(at, key->length, random);
	at += key->length;
	dns_put16(at, key->type);
	dns_put16(at + 2, key->class);
	at += 4;
	a->question = (uint16_t)(key->length + 4);
	if (a->has_edns)
		at = put_opt(at, a, opts->cookie, key->flags & DNS_KEY_DO);
	a->n = (uint16_t)(at - a->msg);
}
