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
	PRIVILEGE_BPF = 39,
};

/* True if the capability is in the effective set. */
bool privilege_has(enum privilege capability);

#endif
