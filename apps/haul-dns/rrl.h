/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Response rate limiting, as BIND and NSD do it: who forges the addresses of others gets few
 * answers sent to them, and a real client that is limited comes by TCP. Answers are counted for
 * each network of clients and each kind of answer; of positive ones, for each name, too.
 *
 * The table is bounded. Carriers share it, so the rate is that of all of them together.
 */
#ifndef DNS_RRL_H
#define DNS_RRL_H

#include <haul/build.h>

#include "siphash.h"

struct dns_rrl_opts {
	/* Answers of a kind in a second; 0: no limit. At most 100,000. */
	uint32_t rate, nxdomain_rate, error_rate;
	uint32_t window; /* s for which too many queries count; 0: 15. At most 3,600 */
	uint32_t slip; /* so many limited answers are one truncated one, on average; 0: none */
	uint8_t prefix_4, prefix_6; /* bits of a network; 0: 24 and 56 */
	uint32_t entries; /* 8 bytes each; 0: 65,536 */
};

enum dns_rrl_kind { DNS_RRL_ANSWER, DNS_RRL_NXDOMAIN, DNS_RRL_ERROR, DNS_RRL_KINDS };

enum dns_rrl_verdict {
	DNS_RRL_SEND,
	DNS_RRL_SLIP, /* send it without records, truncated */
	DNS_RRL_DROP,
};

struct dns_rrl;

/* Returns 0, -EINVAL or -ENOMEM. secret: of the table's hash. */
int dns_rrl_create(
	struct dns_rrl **rrl, const struct dns_rrl_opts *opts, const struct dns_secret *secret);
void dns_rrl_free(struct dns_rrl *r);

/* Counts an answer that is about to be sent by UDP to a client, which has no good cookie. name: the
 * hash of the question, of DNS_RRL_ANSWER. now: ns. Any thread. */
enum dns_rrl_verdict dns_rrl_check(struct dns_rrl *r, const struct haul_addr *client,
	enum dns_rrl_kind kind, uint64_t name, uint64_t now);

#endif
