/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells of coroutines that run for long without a wait, and of long cycles of haul's own pollers
 * (haul_runtime_opts.watchdog_ns). */
#ifndef HAULI_SCHED_LOOK_WATCHDOG_H
#define HAULI_SCHED_LOOK_WATCHDOG_H

#include <stdint.h>

#include "base/counter.h"

struct haul_carrier;
struct haul_runtime;
struct hauli_watchdog;

/* Its thread looks at the carriers of rt, which run, until stop. Returns 0 or -ENOMEM, -EAGAIN. */
int hauli_watchdog_start(
	struct hauli_watchdog **watchdog, struct haul_runtime *rt, uint64_t limit_ns);
void hauli_watchdog_stop(struct hauli_watchdog *watchdog); /* NULL: nothing */

/* c's poller, which counts its cycles there, or NULL. From then on, a cycle that takes long is told
 * of. The poller calls this with NULL before the counter goes. */
void hauli_watchdog_cycles(struct haul_carrier *c, const struct hauli_counter *cycles);

#endif
