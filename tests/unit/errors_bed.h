/* SPDX-License-Identifier: BSD-3-Clause */
/* The bed of tests of errors (support/promises.h): a runtime of two carriers for each call. */
#ifndef ERRORS_BED_H
#define ERRORS_BED_H

#include "support/promises.h"
#include "support/runtime.h"
#include "support/suite.h"

extern struct haul_runtime *rt; /* NULL: the call has stopped it */
extern struct haul_plan *plan; /* of two carriers */

/* haul_start() with LINE, by the plan and without a watchdog if opts has none. */
int errors_start(struct haul_runtime **out, const struct haul_runtime_opts *opts);

/* Stops rt. */
void errors_end(void);

/* Makes a call in a coroutine of rt that the stop of rt has cancelled, and returns its result. */
int errors_at_stop(int (*make)(void));

/* Parks until it is cancelled. */
void *errors_parks(void *arg);

/* The tests of a table whose begin, end and on_carrier are those of the bed; before: another test,
 * or NULL. Returns the exit code. */
int errors_main(struct promises table, const TTest *before);

#endif
