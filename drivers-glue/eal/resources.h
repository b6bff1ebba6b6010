/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks that this process can get the resources of EAL's start; EAL ends the program if it
 * cannot. */
#ifndef HAULI_EAL_RESOURCES_H
#define HAULI_EAL_RESOURCES_H

#include <stddef.h>

/* Tries to get descriptors and threads for all carriers. 0; -EMFILE or -EAGAIN with a line. */
int hauli_resources_check(unsigned carriers, char *errbuf, size_t errlen);

#endif
