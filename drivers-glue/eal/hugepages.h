/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks for huge pages. */
#ifndef HAULI_EAL_HUGEPAGES_H
#define HAULI_EAL_HUGEPAGES_H

#include <stdbool.h>

/* True if mb megabytes of huge pages of one size can be mapped now. Another program may take them a
 * moment later. */
bool hauli_hugepages_can_map(unsigned mb);

/* True if the machine has reserved huge pages, free or not. */
bool hauli_hugepages_exist(void);

/* True if huge pages can have names: a hugetlbfs is mounted. */
bool hauli_hugepages_can_name(void);

#endif
