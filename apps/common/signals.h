/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SIGINT, SIGTERM and SIGHUP as events that the main thread waits for.
 *
 * A thread of its own takes them, so that they also count while the main thread is in a system call
 * of a driver's. The first one asks the program to end, the second one ends it at once, as if
 * nobody had taken it. What the first one does meanwhile depends on the phase.
 */
#ifndef APP_SIGNALS_H
#define APP_SIGNALS_H

#include <haul/base.h>

/* What the main thread does, which decides what the first signal does. */
enum app_phase {
	/* System calls that last are interrupted, over and over; after two seconds the program
	 * ends by the signal, with a line. */
	APP_STARTS,
	APP_WORKS, /* nothing; a line when it takes long */
	APP_WRITES, /* as APP_STARTS, but the program does not end */
};

/* Before any other thread is made: they inherit the mask. SIGPIPE and SIGXFSZ (ulimit -f) become
 * errors of write(). A SIGHUP that is ignored already, as by nohup, stays so. name:
 * the program's. */
void app_signals_init(const char *name);

/* Main thread. "opening port ", "null:", for the lines. */
void app_signals_phase(enum app_phase phase, const char *what, const char *which);

/* Sleeps until one of them has come or haul_now() reaches deadline. The signal, or 0. */
int app_signals_wait(uint64_t deadline);

#endif
