/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PERF_PLAN_H
#define PERF_PLAN_H

#include <haul/topo.h>

/* Plans n carriers, on perf_cpu(first) and the CPUs after it. 0, or -errno after a line. The caller
 * owns *plan. */
int perf_plan(struct haul_plan **plan, unsigned first, unsigned n);

#endif
