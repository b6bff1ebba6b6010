/* SPDX-License-Identifier: BSD-3-Clause */
/* What ports that are handed over do otherwise; see hand_over.c. */
#ifndef HAULI_PORT_HAND_OVER_H
#define HAULI_PORT_HAND_OVER_H

#include <haul-dpdk/hand_over.h>

#include "port/kind.h"

/* A kind's part of haul-dpdk/hand_over.h. */
struct hauli_hand_over {
	/* Adds descriptors to the offer. 0 or -errno with a line. */
	int (*offer)(
		struct haul_port *port, struct haul_port_offer *offer, char *errbuf, size_t errlen);
	void (*keep)(struct haul_port *port);
	/* Pollers still run: what is received from now on is the other's; true when all before is
	 * polled (NULL: it stays where both read it). */
	void (*leave)(struct haul_port *port);
	bool (*is_drained)(const struct haul_port *port);
	/* Newer, before it opens the device: 0, or -errno with a line: these are no descriptors of
	 * such a port. */
	int (*check)(const struct haul_port *port, const struct haul_port_offer *offer,
		char *errbuf, size_t errlen);
	int (*take)(struct haul_port *port, char *errbuf, size_t errlen);
	/* The PMD makes an interface of its own, which must not meet the other's: it gets a network
	 * namespace, and take() replaces it. */
	bool makes_iface;
};

/* Calls make in a new network namespace, which has nothing else. 0 or -errno with a line. */
int hauli_port_apart(struct haul_port *port,
	int (*make)(struct haul_port *port, char *errbuf, size_t errlen), char *errbuf,
	size_t errlen);

#endif
