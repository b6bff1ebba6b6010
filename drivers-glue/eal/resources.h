/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether this process may have what EAL starts with; EAL ends the program when it may not. */
#ifndef HAULI_EAL_RESOURCES_H
#define HAULI_EAL_RESOURCES_H

#include <stddef.h>

/* Tries to get descriptors and threads for all carriers. 0; -EMFILE or -EAGAIN with a line. */
int hauli_resources_check(unsigned carriers, char *errbuf, size_t errlen);

/* Megabytes that programs may still take of the machine's memory, swap included; ULONG_MAX where
 * the kernel does not say. */
unsigned long hauli_resources_free_mb(void);

#endif
