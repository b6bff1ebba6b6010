/* SPDX-License-Identifier: BSD-3-Clause */
/* Capabilities of this process. */
#ifndef DOCTOR_PRIVILEGE_H
#define DOCTOR_PRIVILEGE_H

#include <stdbool.h>

/* Capabilities, by the numbers of linux/capability.h. */
enum privilege {
	PRIVILEGE_NET_ADMIN = 12,
	PRIVILEGE_NET_RAW = 13,
	PRIVILEGE_IPC_LOCK = 14,
	PRIVILEGE_SYS_ADMIN = 21,
};

const char *privilege_name(enum privilege capability); /* "CAP_NET_RAW" */

/* True if the capability is in the effective set. */
bool privilege_has(enum privilege capability);

/* True if it also counts for the network namespace: a capability of another user namespace than
 * that of the network does not. */
bool privilege_has_here(enum privilege capability);

#endif
