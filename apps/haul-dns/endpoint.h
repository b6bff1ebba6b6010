/* SPDX-License-Identifier: BSD-3-Clause */
/* The address and the port of a server. */
#ifndef DNS_ENDPOINT_H
#define DNS_ENDPOINT_H

#include <haul/build.h>

struct dns_endpoint {
	struct haul_addr addr;
	uint16_t port;
};

/* "10.0.0.1", "10.0.0.1:5353", "fd00::1", "[fd00::1]:5353"; without a port it is 53. Returns 0, or
 * -EINVAL. */
int dns_endpoint_parse(struct dns_endpoint *e, const char *text, size_t n);

/* For people. Returns text. */
#define DNS_ENDPOINT_TEXT (HAUL_ADDR_TEXT + 8)
char *dns_endpoint_text(const struct dns_endpoint *e, char text[DNS_ENDPOINT_TEXT]);

static inline bool dns_endpoint_equal(const struct dns_endpoint *a, const struct dns_endpoint *b)
{
	return haul_addr_equal(&a->addr, &b->addr) && a->port == b->port;
}

#endif
