/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cookies (RFC 7873, RFC 9018). A client sends 8 bytes that a forger of answers does not know; a
 * server adds 16, by which it knows a client that has its answers at the address it claims.
 */
#ifndef DNS_COOKIE_H
#define DNS_COOKIE_H

#include <haul/build.h>

#include "siphash.h"

enum { DNS_COOKIE_SERVER = 16 };

/* The client's part, which a server always gets from the same address of ours, which is of the
 * server's version. */
void dns_cookie_client(uint8_t cookie[8], const struct dns_secret *secret,
	const struct haul_addr *server, const struct haul_addr *from);

/* The server's part. now: s since 1970, as RFC 9018 wants it. */
void dns_cookie_make(uint8_t cookie[DNS_COOKIE_SERVER], const struct dns_secret *secret,
	const uint8_t client_cookie[8], const struct haul_addr *client, uint32_t now);

/* True if the server's part, of 16 bytes, was made for this client in the last hour, or up to five
 * minutes from now by the clock of another server with the same secret. */
bool dns_cookie_is_good(const uint8_t cookie[DNS_COOKIE_SERVER], const struct dns_secret *secret,
	const uint8_t client_cookie[8], const struct haul_addr *client, uint32_t now);

#endif
