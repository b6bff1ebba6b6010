/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether there is an EAL to call. */
#ifndef HAULI_GLUE_EAL_UP_H
#define HAULI_GLUE_EAL_UP_H

#include <stdbool.h>

/* True between EAL's start, by haul or by the program, and haul_eal_fini(); false in a child of
 * fork() where haul has started it: its lcores are the parent's. */
bool hauli_eal_is_up(void);

#endif
