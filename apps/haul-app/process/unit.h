/* SPDX-License-Identifier: BSD-3-Clause */
/* The unit of systemd's that the process belongs to, if it does. Main thread. */
#ifndef HAULI_APP_PROCESS_UNIT_H
#define HAULI_APP_PROCESS_UNIT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The time, in ns, within which systemd wants a sign of life; 0: it wants none. A program that
 * takes over has it from the one before: its environment does not tell. */
uint64_t hauli_unit_watchdog(void);
void hauli_unit_take_watchdog(uint64_t ns);

/* Tells systemd that a process of this unit is about to be its main one; nothing if it is of
 * another unit. */
void hauli_unit_hands_over(pid_t pid);

/* True if that one is told of: this process has nothing to say any more. */
bool hauli_unit_has_heir(void);

#endif
