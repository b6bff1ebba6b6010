/* SPDX-License-Identifier: BSD-3-Clause */
/* The stand-in carrier of threads that are none, and what is noted of their wake-ups. */
#include "sched/quiet.h"
#include "sched/self.h"

__attribute__((weak)) struct haul_carrier hauli_nowhere;

__attribute__((weak)) void hauli_quiet_is_woken(const struct haul_coro *co)
{
}
