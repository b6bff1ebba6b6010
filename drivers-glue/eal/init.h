/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of EAL. */
#ifndef HAULI_EAL_INIT_H
#define HAULI_EAL_INIT_H

#include <stdbool.h>

/* True from EAL's start, by haul or by the program, until haul_eal_fini(). False in a child of
 * fork() if haul has started EAL, because the lcores are the parent's. */
bool hauli_eal_is_up(void);

#endif
