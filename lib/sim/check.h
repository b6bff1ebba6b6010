/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program says about its own run: that it has failed, and what always holds. */
#ifndef HAULI_SIM_CHECK_H
#define HAULI_SIM_CHECK_H

#include <stdbool.h>

#define HAULI_SIM_TEXT 1024

/* True if there are invariants. */
extern bool hauli_sim_has_checks;

/* Before a run: none, and no text. */
void hauli_sim_checks_begin(void);

/* On the thread of haul_sim_run(): false if an invariant does not hold. */
bool hauli_sim_check(void);

/* Why the run has failed, or "". */
const char *hauli_sim_failure(void);

#endif
