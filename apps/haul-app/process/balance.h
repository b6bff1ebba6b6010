/* SPDX-License-Identifier: BSD-3-Clause */
/* --balance: the main thread looks at queues and carriers ten times a second, and moves queues. */
#ifndef HAULI_APP_PROCESS_BALANCE_H
#define HAULI_APP_PROCESS_BALANCE_H

#include "process/state.h"

#define HAULI_BALANCE_NAMES "off|all|few|dry" /* enum hauli_balance */
enum hauli_balance { HAULI_BALANCE_OFF, HAULI_BALANCE_ALL, HAULI_BALANCE_FEW, HAULI_BALANCE_DRY };

/* After haul_io_start(). Returns an exit code: wrong arguments if no queue could ever move. */
int hauli_app_balance_begin(struct hauli_app *a);
void hauli_app_balance_end(void);

/* When the next look is due; HAUL_FOREVER: never. */
uint64_t hauli_app_balance_next(const struct hauli_app *a);

/* Looks, if it is due. */
void hauli_app_balance(struct hauli_app *a, uint64_t now);

/* What was done: the number of moves, and of the carriers in use. False: --balance is off. */
bool hauli_app_balance_done(uint64_t *moves, unsigned *in_use);

#endif
