/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SIGINT, SIGTERM and SIGHUP as events for the main thread.
 *
 * A separate thread receives them, because the main thread may be in a system call of a driver. The
 * first signal asks the program to end; the second one ends it at once, by its default action. The
 * phase of the program decides what else the first signal does.
 */
#ifndef HAULI_APP_PROCESS_SIGNALS_H
#define HAULI_APP_PROCESS_SIGNALS_H

#include <haul/base.h>

/* Phases of the main thread, and what a first signal does in each. */
enum hauli_app_phase {
	/* Interrupts long system calls repeatedly; after two seconds, without the time for which
	 * the main thread waits for a CPU, prints a line and ends the program by the signal. */
	HAULI_APP_PHASE_STARTS,
	HAULI_APP_PHASE_WORKS, /* interrupts nothing; prints a line if the end takes long */
	HAULI_APP_PHASE_WRITES, /* interrupts long system calls repeatedly */
};

/*
 * The first call of main(): these signals, and SIGUSR1, wait from now on (SIGUSR1 until
 * haul_dump_on_signal()). Masks outlast the exec() by which the glue may restart the program.
 * reloads: SIGHUP does not end the program, but makes a file readable; without it, one that is
 * ignored (by nohup) stays ignored.
 */
void hauli_app_signals_block(bool reloads);

/* To be called before any other thread is created, because threads inherit the signal mask. SIGPIPE
 * and SIGXFSZ (ulimit -f) become errors of write(). name: the name of the program. */
void hauli_app_signals_init(const char *name);

/* Main thread. what and which appear in printed lines: "opening port ", "null:". */
void hauli_app_signals_phase(enum hauli_app_phase phase, const char *what, const char *which);

/* The end takes so much longer, as the user wants it to. */
void hauli_app_signals_extend(uint64_t ns);

/* True once a signal has arrived. */
bool hauli_app_signals_came(void);

/* A file that is readable once a signal has arrived; -1: signals are not taken. */
int hauli_app_signals_fd(void);

/* An eventfd that is readable once SIGHUP has arrived, and is for the main thread to read; -1: it
 * ends the program. */
int hauli_app_signals_reload_fd(void);

#endif
