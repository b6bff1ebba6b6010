/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports coroutines that run for long without a wait, long cycles of haul's own pollers, and
 * foreign waits (haul_runtime_opts.watchdog_ns). */
#ifndef HAULI_SCHED_LOOK_WATCHDOG_H
#define HAULI_SCHED_LOOK_WATCHDOG_H

#include <stdint.h>

#include "base/counter.h"

struct haul_carrier;
struct haul_runtime;
struct hauli_watchdog;

/* Starts its thread, which looks at the carriers of rt until stop. The carriers run already.
 * Returns 0 or -ENOMEM, -EAGAIN. */
int hauli_watchdog_start(
	struct hauli_watchdog **watchdog, struct haul_runtime *rt, uint64_t limit_ns);
void hauli_watchdog_stop(struct hauli_watchdog *watchdog); /* NULL: nothing */

/* Called by c's poller, which counts its cycles in cycles. From then on a long cycle is reported.
 * The poller calls this with NULL before the counter goes out of scope. */
void hauli_watchdog_cycles(struct haul_carrier *c, const struct hauli_counter *cycles);

#endif
