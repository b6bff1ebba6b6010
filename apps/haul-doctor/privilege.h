/* SPDX-License-Identifier: BSD-3-Clause */
/* What this process may do. */
#ifndef DOCTOR_PRIVILEGE_H
#define DOCTOR_PRIVILEGE_H

#include <stdbool.h>

/* Capabilities by their number in the kernel. */
enum privilege {
	PRIVILEGE_NET_ADMIN = 12,
	PRIVILEGE_NET_RAW = 13,
	PRIVILEGE_IPC_LOCK = 14,
	PRIVILEGE_BPF = 39,
};

/* Whether it is effective. */
bool privilege_has(enum privilege capability);

#endif
