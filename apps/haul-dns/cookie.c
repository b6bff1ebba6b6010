/* SPDX-License-Identifier: BSD-3-Clause */
#include "cookie.h"

#include "address.h"

enum { VERSION = 1, HOUR = 3600, AHEAD = 300 };

void dns_cookie_client(uint8_t cookie[8], const struct dns_secret *secret,
	const struct haul_addr *server, const struct haul_addr *from)
{
	size_t n = dns_address_size(server);
	uint8_t bytes[32];
	uint64_t hash;

	memcpy(bytes, server->bytes, 16);
	memcpy(bytes + n, from->bytes, 16);
	hash = dns_siphash(secret, bytes, 2 * n);
	memcpy(cookie, &hash, 8);
}

/* RFC 9018, 4.4: of the client's cookie, the first 8 bytes of ours, and the client's address. */
static uint64_t hash_of(const uint8_t head[8], const struct dns_secret *secret,
	const uint8_t client_cookie[8], const struct haul_addr *client)
{
	size_t n = dns_address_size(client);
	uint8_t bytes[32];

	memcpy(bytes, client_cookie, 8);
	memcpy(bytes + 8, head, 8);
	memcpy(bytes + 16, client->bytes, 16);
	return dns_siphash(secret, bytes, 16 + n);
}

void dns_cookie_make(uint8_t cookie[DNS_COOKIE_SERVER], const struct dns_secret *secret,
	const uint8_t client_cookie[8], const struct haul_addr *client, uint32_t now)
{
	uint64_t hash;

	memset(cookie, 0, 4);
	cookie[0] = VERSION;
	dns_put32(cookie + 4, now);
	hash = hash_of(cookie, secret, client_cookie, client);
	memcpy(cookie + 8, &hash, 8);
}

bool dns_cookie_is_good(const uint8_t cookie[DNS_COOKIE_SERVER], const struct dns_secret *secret,
	const uint8_t client_cookie[8], const struct haul_addr *client, uint32_t now)
{
	/* Serial numbers (RFC 1982): the clock's 32 bits may pass their end. */
	int32_t age = (int32_t)(now - dns_get32(cookie + 4));

	return cookie[0] == VERSION && age <= HOUR && age >= -AHEAD &&
		hash_of(cookie, secret, client_cookie, client) == dns_load64(cookie + 8);
}
