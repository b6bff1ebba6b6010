/* SPDX-License-Identifier: BSD-3-Clause */
#include "endpoint.h"

#include <errno.h>
#include <stdio.h>

#include "address.h"

enum { PORT = 53 };

int dns_endpoint_parse(struct dns_endpoint *a, const char *text, size_t n)
{
	const char *end = text + n, *colon = memrchr(text, ':', n), *close = memchr(text, ']', n);
	size_t addr = n;
	unsigned port = 0;

	/* A colon is one of IPv6, unless it is the only one, or behind a bracket. */
	if (n > 0 && text[0] == '[') {
		if (!close || (close + 1 != end && close[1] != ':'))
			return -EINVAL;
		addr = (size_t)(close - text) - 1;
		colon = close + 1 == end ? NULL : close + 1;
		text++;
	} else if (colon && memchr(text, ':', n) == colon) {
		addr = (size_t)(colon - text);
	} else {
		colon = NULL;
	}
	if (dns_address_parse(&a->addr, text, addr) < 0)
		return -EINVAL;
	a->port = PORT;
	if (!colon)
		return 0;
	if (colon + 1 == end || end - colon > 6)
		return -EINVAL;
	for (const char *c = colon + 1; c < end; c++) {
		if (*c < '0' || *c > '9')
			return -EINVAL;
		port = 10 * port + (unsigned)(*c - '0');
	}
	if (port == 0 || port > UINT16_MAX)
		return -EINVAL;
	a->port = (uint16_t)port;
	return 0;
}

char *dns_endpoint_text(const struct dns_endpoint *a, char text[DNS_ENDPOINT_TEXT])
{
	char addr[HAUL_ADDR_TEXT];

	snprintf(text, DNS_ENDPOINT_TEXT, a->addr.version == 6 ? "[%s]:%u" : "%s:%u",
		haul_addr_text(&a->addr, addr), a->port);
	return text;
}
