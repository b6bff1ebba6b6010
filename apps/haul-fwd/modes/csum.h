/* SPDX-License-Identifier: BSD-3-Clause */
/* Mode csum: who computes which checksum. */
#ifndef FWD_MODES_CSUM_H
#define FWD_MODES_CSUM_H

#include "../mode.h"

/* As testpmd's "csum set LAYER hw|sw PORT". */
enum fwd_csum_layer {
	FWD_CSUM_IP,
	FWD_CSUM_UDP,
	FWD_CSUM_TCP,
	FWD_CSUM_SCTP,
	FWD_CSUM_LAYERS,
};
#define FWD_CSUM_LAYER_NAMES "ip|udp|tcp|sctp"

/* Wrong checksums in received packets, as counters of the program. */
extern const struct haul_app_counter fwd_csum_counters[];
/* In parsed(): sets hooks->counters to them. Mode csum does so if the program starts with it. */
void fwd_csum_count(struct haul_app_hooks *hooks);

/* Sets who computes the checksum of a layer in packets that the port sends: its device (hw), which
 * must have been opened with the offload, or csum (the default). Main thread, while no pollers run.
 * Returns 0, or -EINVAL: there is no such port or layer. */
int fwd_csum_set(unsigned port, enum fwd_csum_layer layer, bool hw);
bool fwd_csum_is_hw(unsigned port, enum fwd_csum_layer layer);
/* The port is about to get another device, which may have no offload (0), or has got one with these
 * transmit offloads: csum computes what was set to hw and is not among them. Main thread, also
 * while pollers run. */
void fwd_csum_set_offloads(unsigned port, uint64_t offloads);
/* RTE_ETH_TX_OFFLOAD_... of each layer. */
extern const uint64_t fwd_csum_offloads[FWD_CSUM_LAYERS];
/* As testpmd's "csum mac-swap on|off PORT": sets the MAC addresses of packets that the port sends
 * (the default), or leaves them. Same context. */
int fwd_csum_set_macs(unsigned port, bool on);

#endif
