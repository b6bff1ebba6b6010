/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A strict walker of DNS messages (RFC 1035, 4): header, question, records, and the options of EDNS
 * (RFC 6891). It allocates nothing, and what it finds are offsets in the caller's bytes. A walk
 * looks at each byte once, but for the labels that pointers lead to: at most 127 of them a name.
 */
#ifndef DNS_MESSAGE_H
#define DNS_MESSAGE_H

#include "name.h"

enum dns_section { DNS_ANSWERS, DNS_AUTHORITIES, DNS_ADDITIONALS, DNS_SECTIONS };

struct dns_record {
	uint16_t owner, rdata, length; /* offsets, and bytes of rdata */
	uint16_t type, class;
	uint32_t ttl;
	enum dns_section section;
};

/* Over the records of a message, behind its question. */
struct dns_walk {
	const uint8_t *msg;
	size_t n, at;
	uint16_t left[DNS_SECTIONS];
	enum dns_section section;
};

/* at: the offset of the first record. n >= DNS_HEADER. */
void dns_walk_begin(struct dns_walk *w, const uint8_t *msg, size_t n, size_t at);

/* Returns 1 and a record, 0 at the end of the message, or -EBADMSG; bytes behind the last record
 * are an error, too. */
int dns_walk_next(struct dns_walk *w, struct dns_record *r);

enum { DNS_COOKIE_CLIENT = 8, DNS_COOKIE_MAX = 40 };

struct dns_edns {
	bool is_there, dnssec_ok;
	uint8_t rcode, version; /* the upper bits of the code */
	uint16_t size; /* of the largest datagram that the sender takes; at least 512 */
	uint8_t nb_cookie; /* 0: none; 8: the client's part; 16 to 40: both */
	uint8_t cookie[DNS_COOKIE_MAX];
};

/* From a record of the type OPT. Returns 0, or -EBADMSG: an option that does not fit, a cookie of
 * a wrong length, an owner that is not the root. */
int dns_edns_read(struct dns_edns *e, const uint8_t *msg, const struct dns_record *r);

/* True for types that no zone has (RFC 6895, 3.1): OPT, TSIG, transfers, ANY. */
static inline bool dns_type_is_meta(unsigned type)
{
	return type == 0 || type == DNS_OPT_TYPE || (type >= 128 && type <= 255);
}

#endif
