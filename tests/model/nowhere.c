/* SPDX-License-Identifier: BSD-3-Clause */
/* The stand-in carrier of threads that are none, and what is noted of their wake-ups and
 * joins. */
#include "sched/state/runtime.h"
#include "sched/state/self.h"
#include "sched/wait/thread_joins.h"

__attribute__((weak)) struct haul_carrier hauli_nowhere;

__attribute__((weak)) void hauli_runtime_is_woken(const struct haul_coro *co)
{
}

__attribute__((weak)) void hauli_thread_joins_begin(void)
{
}

__attribute__((weak)) void hauli_thread_joins_end(void)
{
}
