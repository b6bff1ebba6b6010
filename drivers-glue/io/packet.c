/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/packet.h"

#include <rte_errno.h>

#include "net/given.h"
#include "net/stamp.h"

/* A coroutine gets one pointer: to this field of the packet, which leads to the queue, so nothing
 * is allocated. A private area instead of the field would touch a third cache line. */
ptrdiff_t hauli_pkt_at = -1;

/* What -Dchecks=true writes into packets. */
static int init_checks(void)
{
	static const struct rte_mbuf_dynflag given = {.name = "haul_given"};
	static const struct rte_mbuf_dynflag handed = {.name = "haul_handed"};
	static const struct rte_mbuf_dynfield handler = {
		.name = "haul_handler",
		.size = sizeof(uintptr_t),
		.align = __alignof__(uintptr_t),
	};
	int given_bit = rte_mbuf_dynflag_register(&given);
	int handed_bit = rte_mbuf_dynflag_register(&handed);

	hauli_pkt_handler_at = rte_mbuf_dynfield_register(&handler);
	if (given_bit < 0 || handed_bit < 0 || hauli_pkt_handler_at < 0)
		return -rte_errno;
	hauli_pkt_given = RTE_BIT64(given_bit);
	hauli_pkt_handed = RTE_BIT64(handed_bit);
	return 0;
}

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

	hauli_pkt_at = rte_mbuf_dynfield_register(&field);
	if (times)
		hauli_pkt_stamp_at = rte_mbuf_dynfield_register(&stamp);
	if (hauli_pkt_at < 0 || (times && hauli_pkt_stamp_at < 0))
		return -rte_errno;
	return HAUL_CHECKS ? init_checks() : 0;
}
