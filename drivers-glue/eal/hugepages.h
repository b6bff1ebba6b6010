/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether there are huge pages. */
#ifndef HAULI_EAL_HUGEPAGES_H
#define HAULI_EAL_HUGEPAGES_H

#include <stdbool.h>

/* True when so many megabytes of huge pages of one size can be had now. Another program may have
 * them a moment later. */
bool hauli_hugepages_can_map(unsigned mb);

/* True when the machine has reserved some, free or not. */
bool hauli_hugepages_exist(void);

/* True when they can have names: a hugetlbfs is mounted. */
bool hauli_hugepages_can_name(void);

#endif
