/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Local names, from a file in the format of hosts(5): an address and its names on a line. They are
 * looked up forwards (A, AAAA) and backwards (PTR). It does not change once it is made: a reload
 * makes another one, and the old one is freed when nobody uses it.
 */
#ifndef DNS_HOSTS_H
#define DNS_HOSTS_H

#include "answer.h"

enum { DNS_HOSTS_TTL = 60, DNS_HOSTS_ANSWERS_MAX = 64 };

struct dns_hosts;

/*
 * Returns 0; -EINVAL: *wrong is the number of the first line that is not understood, from 1 on;
 * -ENOMEM. A name may be on several lines; the first name of an address is that of its PTR.
 */
int dns_hosts_parse(struct dns_hosts **hosts, const char *text, size_t n,
	const struct dns_secret *secret, unsigned *wrong);
void dns_hosts_free(struct dns_hosts *hosts);

/*
 * If the name of the query is one of these, writes a message to out, which has room for opts->max
 * bytes, and returns its length: with addresses, or with none if it has none of the type. Else
 * returns 0. Up to DNS_HOSTS_ANSWERS_MAX addresses. Any thread.
 */
size_t dns_hosts_write(const struct dns_hosts *hosts, uint8_t *out, const uint8_t *msg,
	const struct dns_query *q, const struct dns_reply_opts *opts);

/* Names, and addresses of them. */
unsigned dns_hosts_names(const struct dns_hosts *hosts);

#endif
