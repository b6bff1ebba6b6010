/* SPDX-License-Identifier: BSD-3-Clause */
/* Signals that a screen, or a prompt, has to know of: those of the terminal, and those that end the
 * program without its consent. Main thread. */
#ifndef HAULI_APP_PROCESS_INTERRUPTS_H
#define HAULI_APP_PROCESS_INTERRUPTS_H

#include <stdbool.h>

/* SIGWINCH, SIGTSTP and SIGCONT can be read from the result, a signalfd (or -errno), and do nothing
 * else. To be called before other threads are created. */
int hauli_app_interrupts_open(void);
void hauli_app_interrupts_close(void);

/* What has arrived since the last call. */
struct hauli_app_interrupts {
	bool resized, stop, continued;
};
struct hauli_app_interrupts hauli_app_interrupts_read(void);

/* Stops this process as SIGTSTP does without a handler. Returns once it continues. */
void hauli_app_interrupts_stop(void);

/* Has clean_up called before a signal such as SIGABRT or SIGSEGV ends the program; in a signal
 * handler, in any thread. NULL: no more. */
void hauli_app_interrupts_before_death(void (*clean_up)(void));

/* Calls it: for other ways out of the process. Any thread. */
void hauli_app_interrupts_clean_up(void);

#endif
