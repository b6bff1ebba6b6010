/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The health of the program: what it tells --on-health, systemd (sd_notify(3): READY, STOPPING,
 * RELOADING, STATUS, WATCHDOG), and who asks at /health of --metrics.
 */
#ifndef HAULI_APP_HEALTH_HEALTH_H
#define HAULI_APP_HEALTH_HEALTH_H

#include "health/guard.h"

/* Main thread, as all but hauli_health_now(). Before EAL. Returns an exit code. */
int hauli_health_begin(struct hauli_app *a);

/* True if anybody wants to know: carriers are asked only then. Any time after the options. */
bool hauli_health_is_watched(const struct hauli_app *a);

/* The time between two looks, at most: three of them before anybody loses patience. */
uint64_t hauli_health_period(const struct hauli_app *a);

/* While pollers run, once in that time or more often: asks the carriers for a sign of life, and
 * tells what has changed. */
void hauli_health_look(struct hauli_app *a);

/* Tells that the program reloads, or has reloaded. */
void hauli_health_reloads(bool begins);

/* Tells that the program is about to stop, and serves for some time. */
void hauli_health_drain(struct hauli_app *a, uint64_t ns);

/* Tells that it has stopped. */
void hauli_health_stopped(struct hauli_app *a);

/* Tells nobody but systemd: another program serves. */
void hauli_health_handed_over(struct hauli_app *a);

/* Ends what begin has begun; no carrier runs. */
void hauli_health_end(void);

/* Any thread. */
enum hauli_health hauli_health_now(void);

#endif
