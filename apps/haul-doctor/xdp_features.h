/* SPDX-License-Identifier: BSD-3-Clause */
/* Features of XDP that a network driver has, as the kernel tells them (Linux 6.3). */
#ifndef DOCTOR_XDP_FEATURES_H
#define DOCTOR_XDP_FEATURES_H

#include <stdint.h>

#define XDP_FEATURE_BASIC 1 /* runs XDP programs itself */
#define XDP_FEATURE_ZEROCOPY 8 /* sockets without copies */

/* Stores the features of the interface with that index. Returns 0 or -errno: the kernel does not
 * tell. */
int xdp_features_get(uint64_t *features, unsigned ifindex);

#endif
