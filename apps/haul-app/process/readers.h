/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads other than the main thread that read what the program has: its ports, carriers, counters.
 * One at a time, and only while the main thread waits, so they may read what the main thread may,
 * and change what the prompt may change while pollers run.
 */
#ifndef HAULI_APP_PROCESS_READERS_H
#define HAULI_APP_PROCESS_READERS_H

#include <stdbool.h>

/* Main thread. From now on a reader may enter; from bar() on none is inside, and none enters. Until
 * the first admit() none enters. */
void hauli_readers_admit(void);
void hauli_readers_bar(void);

/* Main thread, at its end: no reader enters any more, nor waits for it. */
void hauli_readers_end(void);

/* Any other thread. Waits until it is alone inside, for at most a second. False, with the reason in
 * *why: the main thread does not wait, or the program ends. */
bool hauli_reader_enter(const char **why);
void hauli_reader_leave(void);

#endif
