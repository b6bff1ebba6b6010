/* SPDX-License-Identifier: BSD-3-Clause */
/* Random packets and their fragments, for the tests of lib/net. */
#ifndef NET_FRAGS_H
#define NET_FRAGS_H

#include <rte_mbuf.h>

#include <haul/build.h>

#include "base/random.h"
#include "net/reassembly.h"

#define FRAGS_MS UINT64_C(1000000)
#define FRAGS_LONGEST 65535u

struct frags_bytes {
	uint8_t b[FRAGS_LONGEST + 66];
	uint32_t len;
};

/* All segments, without padding in between. */
void frags_flatten(struct frags_bytes *to, const struct rte_mbuf *m);

/* A datagram of random bytes that may be fragmented, in two segments. */
struct rte_mbuf *frags_datagram(struct hauli_random *rnd, struct haul_pkt *pkt, uint8_t version,
	uint8_t last_of_src, uint16_t vlan, uint32_t len);

/* Fragment i in an mbuf of its own, whose memory ends behind it. */
struct rte_mbuf *frags_write(const struct haul_pkt *pkt, uint16_t mtu, unsigned i, uint32_t id);

/* A table that counts what it frees, with its time and its limits. */
struct frags_table {
	struct hauli_reassembly *r;
	const struct hauli_reassembly_counts *counts;
	struct hauli_reassembly_limits limits;
	uint64_t now; /* a packet has 100 ms */
	uint32_t freed;
};

void frags_begin(struct frags_table *t, uint32_t packets, uint32_t of_source, uint32_t fragments,
	uint32_t bytes);
/* Nothing may be left when the time is over. */
void frags_end(struct frags_table *t);
void frags_assert_held(const struct frags_table *t, uint32_t packets, uint32_t fragments);

/* Gives a fragment to the table. The caller gets what comes out, and the fragment if it is refused.
 */
enum haul_verdict frags_give(
	struct frags_table *t, struct rte_mbuf *f, unsigned port, struct rte_mbuf **pkt);

/* A datagram that can be parsed, with these bytes; frees it. */
void frags_assert_datagram(const struct frags_bytes *wanted, struct rte_mbuf *m);

#endif
