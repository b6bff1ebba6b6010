/* SPDX-License-Identifier: BSD-3-Clause */
/* A service of haul-dns in the bed of dns_net.h, and clients that visit it. */
#ifndef DNS_CLIENT_H
#define DNS_CLIENT_H

#include "dns_net.h"

/* A client's visit. */
struct dns_client_visit {
	struct dns_visit v;
	uint8_t msg[4096];
	enum dns_served served;
	uint64_t began, ended;
};

extern struct dns_service dns_client_service;

/* For clients of the networks in acl, with the first so many servers. */
void dns_client_begin(unsigned servers, const char *acl);
void dns_client_end(void);

/* As a reload does: the service gets such a configuration in place of the one it has. Suspends,
 * until nothing uses that. */
void dns_client_reload(unsigned servers, const char *acl);

/* A query for a name, with EDNS if that has a cookie's length or is 0, and without if it is -1. */
void dns_client_init(struct dns_client_visit *c, const char *name, unsigned type, int cookie);
void dns_client_serve(struct dns_client_visit *c);

#endif
