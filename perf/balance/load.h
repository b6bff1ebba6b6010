/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads of flows, and how a hash deals them out. */
#ifndef PERF_BALANCE_LOAD_H
#define PERF_BALANCE_LOAD_H

#include "base/random.h"

#define FLOWS 4096u

enum shape { EVEN, ELEPHANT, ZIPF, MOVING, SHAPES };
extern const char *const shape_names[];

/* The weight of each flow; all together 1. ELEPHANT: one has 40 % of the load of four carriers. */
void flow_weights(enum shape shape, unsigned nb_carriers, double weights[FLOWS]);

#endif
