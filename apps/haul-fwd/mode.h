/* SPDX-License-Identifier: BSD-3-Clause */
/* What happens to a packet in each mode, as a burst function and as a coroutine. */
#ifndef FWD_MODE_H
#define FWD_MODE_H

#include <haul-dpdk/io.h>

#include "frame.h"

enum fwd_mode {
	FWD_IO, /* as it is */
	FWD_MAC, /* from the sending port's address to its peer's */
	FWD_MACSWAP, /* back to where it came from */
	FWD_RXONLY, /* freed */
	FWD_TXONLY, /* sent, from nothing */
	FWD_MODES,
};

#define FWD_MODE_NAMES "io|mac|macswap|rxonly|txonly"

/* What the program knows of one port. */
struct fwd_port {
	struct rte_ether_addr macs[2]; /* mac: what a packet received here gets: to, from */
	struct frame_shape shape; /* txonly, --tx-first */
};

/* What it keeps per carrier; written there. */
struct fwd_carrier {
	_Alignas(64) uint32_t next_flow;
};

/* The handlers' argument (haul_rx.arg). */
struct fwd {
	struct fwd_port *ports;
	struct fwd_carrier *carriers;
	struct rte_mempool *pool;
};

/* The number of the next flow on a carrier. */
static inline uint32_t fwd_next_flow(struct fwd_carrier *c, uint32_t flows)
{
	uint32_t flow = c->next_flow;

	c->next_flow = flow + 1 < flows ? flow + 1 : 0;
	return flow;
}

/* Sets the handler of a mode. txonly by coroutines receives and frees: its packets come from
 * generators (generator.h). */
void fwd_mode_set(struct haul_io_opts *io, enum fwd_mode mode, bool coroutine);

#endif
