/* SPDX-License-Identifier: BSD-3-Clause */
/* What a message of neighbour discovery says (RFC 4861, 4.3 and 4.4). */
#ifndef HAULI_HOST_ND_MESSAGE_H
#define HAULI_HOST_ND_MESSAGE_H

#include <haul/net.h>

#include "host/ip.h"

struct hauli_nd_message {
	struct hauli_ip target;
	const uint8_t *source, *address; /* link-layer addresses: of its sender; of the target */
	bool solicited, overrides; /* of an advertisement */
};

/* False: malformed, or forwarded by a router, or its sender cannot be a neighbour. */
bool hauli_nd_read(struct hauli_nd_message *nd, const struct haul_pkt *pkt);

static inline bool hauli_nd_is_group(struct hauli_ip ip)
{
	return ip.hi >> 56 == 0xff;
}

static inline bool hauli_nd_is_all_nodes(struct hauli_ip ip)
{
	return ip.hi == UINT64_C(0xff02) << 48 && ip.lo == 1;
}

#endif
