/* SPDX-License-Identifier: BSD-3-Clause */
/* Listening sockets that outlive a process: haul-app/listener.h. Main thread. */
#ifndef HAULI_APP_PROCESS_LISTENERS_H
#define HAULI_APP_PROCESS_LISTENERS_H

#include <haul-app/listener.h>

#define HAULI_LISTENERS 4u
#define HAULI_LISTENER_TEXT 192 /* of an option and its value */

/* Fills in the listeners that a program which takes over is to have; returns their number. */
unsigned hauli_listeners_offered(
	char texts[HAULI_LISTENERS][HAULI_LISTENER_TEXT], int fds[HAULI_LISTENERS]);

/* n of the program that is taken over. The descriptors are ours now. */
void hauli_listeners_taken(char texts[HAULI_LISTENERS][HAULI_LISTENER_TEXT],
	const int fds[HAULI_LISTENERS], unsigned n);

/* Closes those that no option has got. */
void hauli_listeners_end(void);

#endif
