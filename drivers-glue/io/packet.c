/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/packet.h"

#include <rte_errno.h>

#include "net/given.h"
#include "net/stamp.h"

/* A coroutine gets one pointer. It is the packet, which carries its queue: no allocation. A private
 * area in place of the field would be a third cache line. */
int hauli_pkt_at = -1;

int hauli_packet_init(bool times)
{
	static const struct rte_mbuf_dynfield field = {
		.name = "haul",
		.size = sizeof(union hauli_pkt),
		.align = __alignof__(union hauli_pkt),
	};
	static const struct rte_mbuf_dynfield stamp = {
		.name = "haul_stamp",
		.size = sizeof(uint64_t),
		.align = __alignof__(uint64_t),
	};
	static const struct rte_mbuf_dynflag given = {.name = "haul_given"};
	int bit = 0;

	hauli_pkt_at = rte_mbuf_dynfield_register(&field);
	if (HAUL_CHECKS && hauli_pkt_at >= 0)
		bit = rte_mbuf_dynflag_register(&given);
	if (times)
		hauli_pkt_stamp_at = rte_mbuf_dynfield_register(&stamp);
	if (hauli_pkt_at < 0 || bit < 0 || (times && hauli_pkt_stamp_at < 0))
		return -rte_errno;
	hauli_pkt_given = HAUL_CHECKS ? RTE_BIT64(bit) : 0;
	return 0;
}
