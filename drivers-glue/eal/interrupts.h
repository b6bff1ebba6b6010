/* SPDX-License-Identifier: BSD-3-Clause */
/* EAL's interrupt thread, which EAL never ends. */
#ifndef HAULI_EAL_INTERRUPTS_H
#define HAULI_EAL_INTERRUPTS_H

/*
 * Returns when the thread has run all callbacks that were due at the time of the call. It tells
 * PMDs about their peers, and the close of a PMD frees memory that its callbacks use. Do not call
 * on that thread.
 */
void hauli_interrupts_quiesce(void);

/*
 * Blocks the interrupt thread for good: rte_eal_cleanup() unmaps memory that the thread reads when
 * it wakes, and PMDs leave descriptors that wake it (memif: its listening socket). Returns when the
 * thread is blocked. Call before rte_eal_cleanup(), after all ports are closed.
 */
void hauli_interrupts_still(void);

#endif
