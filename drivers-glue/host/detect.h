/* SPDX-License-Identifier: BSD-3-Clause */
/* Duplicate address detection: an address is the host's when nobody else has it (RFC 5227 for IPv4,
 * RFC 4862, 5.4 for IPv6). */
#ifndef HAULI_HOST_DETECT_H
#define HAULI_HOST_DETECT_H

#include "host/state.h"

/* Under the lock: an address of the host is to be checked if the options say so, and announced. The
 * caller publishes the routes. */
void hauli_detect_begin(struct haul_host *host, struct hauli_own *own);

/* Under the lock, after addresses were removed. */
void hauli_detect_count(struct haul_host *host);

/* Under the lock. An announcement with `checks` is due. True: a probe is to be sent; *a says when
 * it is due next. False: nobody has answered, and the address is the host's, so the caller
 * publishes the routes; or the address is no more. */
bool hauli_detect_probes(struct haul_host *host, struct hauli_announcement *a, uint64_t now);

/* On carriers: another host has, or wants, an address. True if it is one that is being checked: it
 * is not the host's, and stays a duplicate. Does not suspend. */
bool hauli_detect_claims(struct haul_host *host, unsigned port, struct hauli_ip ip);

#endif
