/* SPDX-License-Identifier: BSD-3-Clause */
/* Open vSwitch's rule on the queues or buckets of a program's ports. */
#ifndef PERF_BALANCE_OVS_H
#define PERF_BALANCE_OVS_H

#include <haul-app/app.h>

#include "rule.h"

/* In started(). From then on the main thread looks each 10 s. */
int ovs_begin(struct haul_app *app);
void ovs_end(void); /* in closed() */
uint64_t ovs_moves(void);

#endif
