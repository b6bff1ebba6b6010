/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A SIGSEGV or SIGBUS in a PMD's code ends the program with one line that names the port, before
 * the signal goes to the handler installed earlier. All look-ups happen after the fault: the
 * program counter gives the library, and the thread's registers and stack lead to the queue. If
 * DPDK is linked statically there is no line.
 */
#ifndef HAULI_PORT_FAULT_H
#define HAULI_PORT_FAULT_H

/* Explains faults from now on, for all ports. May be called several times. Any thread. */
void hauli_fault_explain(void);

#endif
