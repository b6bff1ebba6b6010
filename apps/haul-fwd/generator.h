/* SPDX-License-Identifier: BSD-3-Clause */
/* Coroutines that send frames: the first ones of --tx-first, or those of txonly without end. */
#ifndef FWD_GENERATOR_H
#define FWD_GENERATOR_H

#include "mode.h"

/* Starts one on each carrier for each port. count: frames of each; 0: until it is stopped. 0 or
 * -errno. */
int generator_start(struct fwd *fwd, struct haul_runtime *rt, const struct haul_io *io,
	unsigned nb_ports, uint64_t count);

#endif
