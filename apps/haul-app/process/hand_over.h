/* SPDX-License-Identifier: BSD-3-Clause */
/* --hand-over: the program takes its ports from the one that listens at a path, if there is one,
 * and listens there for the next. Main thread. */
#ifndef HAULI_APP_PROCESS_HAND_OVER_H
#define HAULI_APP_PROCESS_HAND_OVER_H

#include "process/state.h"

/* Checks the path. Returns an exit code. */
int hauli_hand_over_check(const struct hauli_app *a);

/* Before ports are opened: asks the other program, which goes on. Returns an exit code. */
int hauli_hand_over_ask(struct hauli_app *a);

/* What to open a port with; NULL: nothing is taken over. */
const struct haul_port_offer *hauli_hand_over_offer(unsigned port);

/* Ports are started, and pollers are about to: waits until the other program's have ended. Returns
 * an exit code. */
int hauli_hand_over_take(struct hauli_app *a);

/* Pollers run: listens for the next program. Returns an exit code. */
int hauli_hand_over_listen(struct hauli_app *a);

/* True if another program is ready to take the ports: this one ends. */
bool hauli_hand_over_begins(void);

/* Lets pollers, which still run, have what was received for them; pollers have ended. */
void hauli_hand_over_leave(struct hauli_app *a);
void hauli_hand_over_done(struct hauli_app *a);

/* A port is about to lose its device: what was offered is not valid any more. */
void hauli_hand_over_withdraw(const struct hauli_app *a, const char *why);

/* Listens no more. */
void hauli_hand_over_end(struct hauli_app *a);

#endif
