/* SPDX-License-Identifier: BSD-3-Clause */
/* Speeds of links. */
#ifndef FWD_SPEED_H
#define FWD_SPEED_H

#include <stdbool.h>
#include <stdint.h>

/* Sets *flags (RTE_ETH_LINK_SPEED_...) for a number of Mbit/s, or "auto". Returns NULL, or what is
 * wrong. */
const char *fwd_speed(const char *text, bool half_duplex, uint32_t *flags);

#endif
