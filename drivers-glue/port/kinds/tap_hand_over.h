/* SPDX-License-Identifier: BSD-3-Clause */
/* TAPs that are handed over, and taken. */
#ifndef HAULI_PORT_KINDS_TAP_HAND_OVER_H
#define HAULI_PORT_KINDS_TAP_HAND_OVER_H

#include <rte_ethdev.h>

#include "port/hand_over.h"

extern const struct hauli_hand_over hauli_tap_hand_over;

/* The descriptor from which the PMD receives. */
static inline int hauli_tap_fd(const struct haul_port *port, unsigned q)
{
	return rte_eth_dev_rx_intr_ctl_q_get_fd(port->vdevs[0].port_id, (uint16_t)q);
}

/* Before the PMD gets its arguments, which this completes; when all queues are set up; after the
 * close. begin: 0 or -ENOMEM. */
int hauli_tap_taken_begin(struct haul_port *port);
void hauli_tap_taken_ready(struct haul_port *port);
void hauli_tap_taken_end(struct haul_port *port);

#endif
