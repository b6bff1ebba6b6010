/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The VLAN tag that a port's device inserts into the frames that it sends. The handlers and sources
 * of a mode are called by others here, which mark packets, only while some port has a tag. Main
 * thread, while no pollers run, but for fwd_vlan_mark().
 */
#ifndef FWD_VLAN_H
#define FWD_VLAN_H

#include "mode.h"

void fwd_vlan_set(unsigned port, uint16_t vlan);
void fwd_vlan_set_two(unsigned port, uint16_t vlan, uint16_t outer);
void fwd_vlan_reset(unsigned port);

/* Replaces what fwd_mode_set() has set, if a port has a tag. */
void fwd_vlan_wrap(struct haul_io_opts *io);

/* Marks packets that a port is to send. Carriers. */
void fwd_vlan_mark(unsigned port, struct rte_mbuf **pkts, uint16_t n);

#endif
