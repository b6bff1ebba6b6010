/* SPDX-License-Identifier: BSD-3-Clause */
/* The drivers of a DPDK that is linked statically. Its EAL loads no directory of plugins. */
#ifndef DOCTOR_LINKED_H
#define DOCTOR_LINKED_H

#include <stdbool.h>
#include <stddef.h>

bool doctor_dpdk_is_static(void);

/* True if this program, or a library of it, contains the driver "net_...". Of buses and mempool
 * handlers nothing can be seen: true. */
bool doctor_is_linked(const char *name);

/* True if constants of this program, or of a library of it, contain these bytes. */
bool doctor_links_bytes(const void *bytes, size_t len);

#endif
