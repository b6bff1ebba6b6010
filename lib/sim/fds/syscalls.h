/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HAULI_SIM_FDS_SYSCALLS_H
#define HAULI_SIM_FDS_SYSCALLS_H

#include <stdbool.h>

/* On a simulated thread. True: syscall(2) with this number is simulated, and *result is what it
 * returns. */
bool hauli_sim_fds_syscall(long number, const long a[6], long *result);

#endif
