/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keeps what the program, the library and DPDK write to stderr while a screen is shown. A message
 * is a line and the lines after it that begin with white space. Main thread, unless stated
 * otherwise.
 */
#ifndef HAULI_APP_SCREEN_MESSAGES_H
#define HAULI_APP_SCREEN_MESSAGES_H

#include <stdint.h>

struct hauli_app_message {
	char text[2048]; /* its first bytes; "": there is no message */
	uint64_t lines; /* of it, without those that have been left out */
	uint64_t earlier; /* messages before it */
};

/* Begins if stderr is the terminal that fd is open for. */
void hauli_app_messages_keep(int fd);

/* Looks at what has come since the last call, and leaves out the middle of what is long: once a
 * period at least. Fills in the newest message, unless it is NULL. */
void hauli_app_messages_look(struct hauli_app_message *newest);

/* Ends, and writes what was kept to stderr. Any thread, also in a signal handler, but not beside
 * hauli_app_messages_look() in another one. */
void hauli_app_messages_release(void);

#endif
