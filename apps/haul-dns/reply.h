/* SPDX-License-Identifier: BSD-3-Clause */
/* What a server replied: is it for us, and what of it is kept, for how long? */
#ifndef DNS_REPLY_H
#define DNS_REPLY_H

#include "answer.h"
#include "ask.h"

enum {
	DNS_CHAIN_MAX = 12, /* aliases (CNAME) of an answer */
	DNS_REPLY_RECORDS_MAX = 1024,
	DNS_NEGATIVE_MAX = 10800, /* s (RFC 2308, 5) */
	DNS_TTL_MAX = 86400, /* s */
	DNS_FAILURE_MIN = 5, /* s (RFC 9520, 3.2: 1 to 300) */
	DNS_FAILURE_MAX = 300,
	DNS_STALE_RETRY = 30, /* s between two tries to replace a stale answer (RFC 8767, 5) */
};

enum dns_reply {
	DNS_REPLY_GOOD, /* NOERROR, NXDOMAIN or YXDOMAIN: dns_reply_keep() */
	DNS_REPLY_OTHER, /* not ours, forged or malformed: wait on */
	DNS_REPLY_TRUNCATED, /* ask again by TCP */
	DNS_REPLY_NO_EDNS, /* ask again without it */
	DNS_REPLY_BAD_COOKIE, /* ask again with the server's new cookie */
	DNS_REPLY_NO_COOKIE, /* the server has stopped to send it, or this is forged: TCP tells */
	DNS_REPLY_FAILED, /* this server cannot answer: ask another one */
};

/* What of the head of a reply concerns the next query. */
struct dns_reply_info {
	uint16_t rcode;
	struct dns_edns edns;
};

/*
 * Of n bytes that came from the address and to the port of the query. A reply without the cookie
 * that we sent counts if expects_cookie is false: the server has not sent one before, or the reply
 * came by TCP.
 */
enum dns_reply dns_reply_judge(const struct dns_ask *a, const uint8_t *msg, size_t n,
	bool expects_cookie, struct dns_reply_info *info);

struct dns_keep_opts {
	uint64_t now; /* ns */
	uint32_t ttl_max; /* s; 0: DNS_TTL_MAX */
	uint32_t negative_max; /* s; 0: DNS_NEGATIVE_MAX */
	uint32_t stale; /* s that expired answers are kept for (RFC 8767); 0: none */
};

/*
 * Makes the answer to keep from a good reply: the records of the question and of its chain of
 * aliases; of a negative one, the SOA; with DNS_KEY_DO, their signatures and proofs, too. All else
 * is dropped, whoever sent it. Returns 0, and *answer with one reference; -EBADMSG: the reply
 * contradicts itself, or does not answer; -E2BIG; -ENOMEM.
 * Its ttl may be 0: then it is for those only who have asked for it already.
 */
int dns_reply_keep(struct dns_answer **answer, const struct dns_ask *a, const uint8_t *msg,
	size_t n, const struct dns_keep_opts *opts);

/* A failure that is kept for a while, which doubles with each one: previous may be NULL, or of the
 * same question (RFC 9520). NULL: no memory. */
struct dns_answer *dns_failure_make(const struct dns_answer *previous, uint64_t now);

#endif
