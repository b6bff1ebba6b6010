/* SPDX-License-Identifier: BSD-3-Clause */
/* EAL's interrupt thread, which has no end of its own. */
#ifndef HAULI_EAL_INTERRUPTS_H
#define HAULI_EAL_INTERRUPTS_H

/*
 * Returns when the thread has done all that it had to do at the time of the call: PMDs are told of
 * their peers there, and one that is closed frees what it uses. Not from that thread.
 */
void hauli_interrupts_quiesce(void);

/*
 * Keeps the interrupt thread from ever running again: rte_eal_cleanup() takes away memory that it
 * looks at whenever it wakes, and PMDs leave it with things to wake for (memif: its listening
 * socket). Returns when the thread is still. Before rte_eal_cleanup(), after all ports are closed.
 */
void hauli_interrupts_still(void);

#endif
