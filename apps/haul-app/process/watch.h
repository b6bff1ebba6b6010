/* SPDX-License-Identifier: BSD-3-Clause */
/* The main thread's wait: for a signal, for file descriptors, and for a time. */
#ifndef HAULI_APP_PROCESS_WATCH_H
#define HAULI_APP_PROCESS_WATCH_H

#include "process/state.h"

/* Waits until a signal arrives, haul_now() reaches deadline, or watched files become ready, whose
 * functions it then calls. Returns false once the program is to end. */
bool hauli_app_watch_wait(struct hauli_app *a, uint64_t deadline);

/* Forgets all files. Closes none. */
void hauli_app_watch_fini(void);

/* Sets the phase of the code that runs now: of a watched file's function, or of the main loop. */
void hauli_app_watch_phase(void);

/* Writes what stdout buffers. Ends a phase of the program in which writing may block. */
void hauli_app_watch_end_writing(void);

#endif
