/* SPDX-License-Identifier: BSD-3-Clause */
/* The forwarding modes, each as a burst function and as a coroutine. */
#ifndef FWD_MODE_H
#define FWD_MODE_H

#include <haul-dpdk/io.h>

#include "frame.h"

enum fwd_mode {
	FWD_IO, /* sends frames unchanged */
	FWD_MAC, /* sends them from the address of the sending port to its peer's */
	FWD_MACSWAP, /* exchanges source and destination address */
	FWD_RXONLY, /* drops received frames */
	FWD_TXONLY, /* sends generated frames */
	FWD_MODES,
};

#define FWD_MODE_NAMES "io|mac|macswap|rxonly|txonly"

/* State of a port. Constant. */
struct fwd_port {
	struct rte_ether_addr macs[2]; /* mac: new destination and source of received packets */
	struct frame_shape shape; /* for txonly and --tx-first */
};

/* State of a carrier, written by that carrier only. */
struct fwd_carrier {
	_Alignas(64) uint32_t next_flow;
};

/* The argument of all handlers (haul_rx.arg). */
struct fwd {
	struct fwd_port *ports;
	struct fwd_carrier *carriers;
	struct rte_mempool *pool;
};

/* The flow number of the next frame that this carrier generates. */
static inline uint32_t fwd_next_flow(struct fwd_carrier *c, uint32_t flows)
{
	uint32_t flow = c->next_flow;

	c->next_flow = flow + 1 < flows ? flow + 1 : 0;
	return flow;
}

/* Sets the handler of a mode. In txonly with coroutines the handler drops received packets;
 * generators send (generator.h). */
void fwd_mode_set(struct haul_io_opts *io, enum fwd_mode mode, bool coroutine);

#endif
