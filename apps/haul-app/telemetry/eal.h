/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands as those of DPDK's telemetry. */
#ifndef HAULI_APP_TELEMETRY_EAL_H
#define HAULI_APP_TELEMETRY_EAL_H

/* Main thread, once EAL has started. */
void hauli_telemetry_eal_begin(void);

#endif
