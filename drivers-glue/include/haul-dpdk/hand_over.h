/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handing a port over to another process, which runs a newer program: no packet is lost, and none
 * overtakes another, as the kernel's queues stay and collect packets while nobody polls. For kinds
 * whose PMD and kernel allow it: tap and afpacket.
 *
 *	the one that has it                     the one that takes it
 *	haul_port_make_offer()      descriptors >
 *	goes on                                 haul_port_open() with opts.offer, haul_port_start()
 *	                           < ready
 *	haul_port_hand_over()
 *	stops its pollers           done >
 *	haul_port_close(), ends                 haul_port_take(), starts its pollers
 *
 * How descriptors and words travel is the programs' matter (SCM_RIGHTS of unix(7)); those of
 * haul-app have --hand-over. On a thread that EAL knows, one call at a time.
 */
#ifndef HAUL_DPDK_HAND_OVER_H
#define HAUL_DPDK_HAND_OVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <haul/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct haul_port;

#define HAUL_OFFER_FDS 64

/* Without pointers: it may be sent as it is, and the receiver replaces fds by those it got. */
struct haul_port_offer {
	uint32_t queues;
	uint32_t was_mtu; /* of the interface, to be restored at the end */
	bool was_promiscuous;
	uint8_t mac[6]; /* that the PMD reports */
	uint32_t nb_fds;
	int32_t fds[HAUL_OFFER_FDS];
};

/* True for kinds of ports that can be handed over. Any thread. */
HAUL_API bool haul_port_can_hand_over(const struct haul_port *port);

/*
 * Makes what another process needs to take the port. The port goes on as before. The caller closes
 * offer->fds, of which there are none after a failure; while it has offered a port, it does not
 * offer it again, and does not detach it. Returns 0, or -errno with a line:
 * -ENOTSUP (not this kind of port), -EPERM (afpacket needs bpf(2)), -E2BIG (too many queues).
 */
HAUL_API int haul_port_make_offer(
	struct haul_port *port, struct haul_port_offer *offer, char *errbuf, size_t errlen);

/* Nobody has taken it: the port is as it was before the offer. */
HAUL_API void haul_port_keep(struct haul_port *port);

/*
 * From now on received packets are the other's. Waits, for up to timeout_ns, until pollers, which
 * still run, have polled those before; then the caller stops them. haul_port_close() leaves the
 * interface as it is. Returns 0, or -ETIMEDOUT: those that were not polled are lost.
 */
HAUL_API int haul_port_hand_over(struct haul_port *port, uint64_t timeout_ns);

/* The other one's pollers have ended: the port, which was opened with an offer and started, is
 * ours. Returns 0, or -errno with a line. */
HAUL_API int haul_port_take(struct haul_port *port, char *errbuf, size_t errlen);

#ifdef __cplusplus
}
#endif

#endif
