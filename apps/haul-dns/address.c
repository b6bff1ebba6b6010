/* SPDX-License-Identifier: BSD-3-Clause */
#include "address.h"

#include <errno.h>

int dns_address_parse(struct haul_addr *address, const char *text, size_t n)
{
	char copy[HAUL_ADDR_TEXT];

	if (n >= sizeof(copy) || memchr(text, '\0', n))
		return -EINVAL;
	memcpy(copy, text, n);
	copy[n] = '\0';
	return haul_addr_parse(address, copy);
}

/* Up to three digits. */
static int parse_length(const char *text, size_t n)
{
	int length = 0;

	if (n == 0 || n > 3)
		return -EINVAL;
	for (size_t i = 0; i < n; i++) {
		if (text[i] < '0' || text[i] > '9')
			return -EINVAL;
		length = 10 * length + text[i] - '0';
	}
	return length;
}

int dns_prefix_parse(struct dns_prefix *p, const char *text, size_t n)
{
	const char *slash = memchr(text, '/', n);
	size_t before = slash ? (size_t)(slash - text) : n;
	struct haul_addr masked;
	int most, length;

	if (dns_address_parse(&p->address, text, before) < 0)
		return -EINVAL;
	most = 8 * (int)dns_address_size(&p->address);
	length = slash ? parse_length(slash + 1, n - before - 1) : most;
	if (length < 0 || length > most)
		return -EINVAL;
	p->length = (uint8_t)length;
	masked = p->address;
	dns_address_mask(&masked, p->length);
	return haul_addr_equal(&masked, &p->address) ? 0 : -EINVAL;
}
