/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A SIGSEGV or SIGBUS in a PMD's code ends the program with one line that names the port, before
 * the signal goes to the handler that was there before. Nothing is looked up until a fault happens:
 * then the program counter tells the library, and the thread's registers and stack lead to the
 * queue. If DPDK is linked statically there is no line.
 */
#ifndef HAULI_PORT_FAULT_H
#define HAULI_PORT_FAULT_H

/* Explains faults from now on, for all ports. May be called again. Any thread. */
void hauli_fault_explain(void);

#endif
