/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses: parsing from text, and checks. */
#include "net/addr.h"

#include <haul/build.h>

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool hauli_ip4_is_host(const uint8_t ip[4])
{
	static const uint8_t broadcast[4] = {255, 255, 255, 255};

	return ip[0] != 0 && ip[0] != 127 && (ip[0] & 0xf0) != 0xe0 && memcmp(ip, broadcast, 4);
}

bool hauli_ip6_is_host(const uint8_t ip[16])
{
	static const uint8_t low[15]; /* the first 15 bytes of :: and ::1 */
	static const uint8_t mapped[12] = {[10] = 0xff, 0xff}; /* IPv4-mapped, never on the wire */

	return ip[0] != 0xff && memcmp(ip, mapped, sizeof(mapped)) &&
		(memcmp(ip, low, sizeof(low)) || ip[15] > 1);
}

static uint32_t ip4_value(const uint8_t ip[4])
{
	return (uint32_t)ip[0] << 24 | (uint32_t)ip[1] << 16 | (uint32_t)ip[2] << 8 | ip[3];
}

bool hauli_ip4_is_edge(const uint8_t ip[4], const uint8_t net[4], uint8_t prefix)
{
	if (prefix > 30)
		return false;

	uint32_t host_bits = UINT32_MAX >> prefix;
	uint32_t host = ip4_value(ip) & host_bits;

	if ((ip4_value(ip) ^ ip4_value(net)) & ~host_bits)
		return false;
	return host == 0 || host == host_bits;
}

void hauli_ip6_group(uint8_t group[16], const uint8_t ip[16])
{
	static const uint8_t prefix[13] = {0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff};

	memcpy(group, prefix, 13);
	memcpy(group + 13, ip + 13, 3);
}

void hauli_ip6_group_mac(uint8_t mac[6], const uint8_t group[16])
{
	mac[0] = 0x33;
	mac[1] = 0x33;
	memcpy(mac + 2, group + 12, 4);
}

/* Parses "ADDR/LEN" into *ip and *prefix. Returns 0 or -EINVAL. */
static int parse(const char *text, int family, void *ip, unsigned long longest, uint8_t *prefix)
{
	char addr[INET6_ADDRSTRLEN];
	const char *slash = strchr(text, '/');
	size_t len = slash ? (size_t)(slash - text) : 0;
	char *end;

	/* strtoul() would accept a sign or a space. */
	if (!slash || len >= sizeof(addr) || slash[1] < '0' || slash[1] > '9')
		return -EINVAL;
	memcpy(addr, text, len);
	addr[len] = '\0';

	unsigned long bits = strtoul(slash + 1, &end, 10);

	if (*end || bits > longest || inet_pton(family, addr, ip) != 1)
		return -EINVAL;
	*prefix = (uint8_t)bits;
	return 0;
}

int haul_net_set_ip4(struct haul_net_if *nif, const char *text)
{
	uint8_t ip[4], prefix;
	int rc = parse(text, AF_INET, ip, 32, &prefix);

	if (rc)
		return rc;
	if (!hauli_ip4_is_host(ip) || hauli_ip4_is_edge(ip, ip, prefix))
		return -EADDRNOTAVAIL;
	memcpy(nif->ip4, ip, sizeof(ip));
	nif->ip4_prefix = prefix;
	return 0;
}

int haul_net_set_ip6(struct haul_net_if *nif, const char *text)
{
	uint8_t ip[16], prefix;
	int rc = parse(text, AF_INET6, ip, 128, &prefix);

	if (rc)
		return rc;
	if (!hauli_ip6_is_host(ip))
		return -EADDRNOTAVAIL;
	memcpy(nif->ip6, ip, sizeof(ip));
	nif->ip6_prefix = prefix;
	return 0;
}

int haul_addr_parse(struct haul_addr *addr, const char *text)
{
	struct haul_addr parsed = {.version = strchr(text, ':') ? 6 : 4};

	if (inet_pton(parsed.version == 6 ? AF_INET6 : AF_INET, text, parsed.bytes) != 1)
		return -EINVAL;
	*addr = parsed;
	return 0;
}

char *haul_addr_text(const struct haul_addr *addr, char text[HAUL_ADDR_TEXT])
{
	_Static_assert(HAUL_ADDR_TEXT >= INET6_ADDRSTRLEN, "room for all");

	if (addr->version == 0)
		return strcpy(text, "none");
	inet_ntop(addr->version == 6 ? AF_INET6 : AF_INET, addr->bytes, text, HAUL_ADDR_TEXT);
	return text;
}
