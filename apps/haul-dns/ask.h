/* SPDX-License-Identifier: BSD-3-Clause */
/* Queries to servers. What comes back must repeat what cannot be guessed: id, the case of the
 * letters (draft-vixie-dnsext-dns0x20), the cookie; and come to the port that asked. */
#ifndef DNS_ASK_H
#define DNS_ASK_H

#include "query.h"
#include "random.h"

/* Bytes: header, question, OPT with a cookie. */
enum { DNS_ASK_MAX = DNS_HEADER + DNS_NAME_MAX + 4 + DNS_OPT + 4 + DNS_COOKIE_MAX };

struct dns_ask_opts {
	bool without_edns; /* for servers that do not know it; such a query has no cookie */
	bool same_case; /* for servers that do not repeat the letters as they are */
	const uint8_t *cookie; /* the client's part, and the server's if it has sent one; or NULL */
	uint8_t nb_cookie; /* bytes */
};

struct dns_ask {
	uint16_t n; /* bytes of msg */
	uint16_t question; /* bytes of it */
	bool has_edns;
	uint8_t nb_cookie;
	const struct dns_key *key; /* the caller's */
	uint8_t msg[DNS_ASK_MAX];
};

/* For the question of the key, which must outlive *a. */
void dns_ask_make(struct dns_ask *a, const struct dns_key *key, const struct dns_ask_opts *opts,
	struct dns_random *random);

#endif
