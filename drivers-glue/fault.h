/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A SIGSEGV or SIGBUS in a PMD's code ends the program with one line that names the port, before
 * the signal goes to whoever handled it. It is looked for only when the fault has happened, in what
 * the thread was at: the library that the program counter is in, and the queues that its
 * registers and its stack lead to. Where DPDK is linked statically there is no line.
 */
#ifndef HAULI_GLUE_FAULT_H
#define HAULI_GLUE_FAULT_H

/* From now on, for all ports. Any thread, any number of times. */
void hauli_fault_explain(void);

#endif
