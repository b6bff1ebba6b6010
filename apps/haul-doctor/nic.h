/* SPDX-License-Identifier: BSD-3-Clause */
/* What the PMD of a NIC tells, asked as a program of haul would. */
#ifndef DOCTOR_NIC_H
#define DOCTOR_NIC_H

#include <stdbool.h>
#include <stdint.h>

#include <haul/topo.h>

struct nic {
	char error[384]; /* why it cannot be opened, in one line; "": it was, and the rest is set */
	char pmd[64];
	unsigned queues; /* that a program with the plan's carriers uses */
	unsigned queues_most;
	unsigned rss_table; /* entries of the redirection table; 0: none */
	unsigned rx_ring, rx_ring_most; /* descriptors */
	unsigned speed; /* Mbit/s; 0: not known */
	bool rss;
	bool waits; /* its receive interrupts can be turned on */
	bool link;
};

/* Opens and starts the NIC for a moment, in a process of its own: EAL starts once in a process, and
 * a PMD may crash. Blocks for up to a minute. */
void nic_ask(struct nic *nic, const struct haul_plan *plan, const char *spec);

#endif
