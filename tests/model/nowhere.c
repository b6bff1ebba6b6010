/* SPDX-License-Identifier: BSD-3-Clause */
/* The stand-in carrier of threads that are none. In models every thread is a carrier. */
#include "sched/self.h"

__attribute__((weak)) struct haul_carrier hauli_nowhere;
