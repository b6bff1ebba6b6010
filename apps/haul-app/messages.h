/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps what the program, the library and DPDK write to stderr while a screen is shown.
 * Main thread, unless stated otherwise. */
#ifndef HAULI_APP_MESSAGES_H
#define HAULI_APP_MESSAGES_H

#include <stddef.h>

/* Begins if stderr is the terminal that fd is open for. */
void hauli_app_messages_keep(int fd);

/* Copies the last line to buf; "" if there is none. */
void hauli_app_messages_last(char *buf, size_t len);

/* Ends, and writes all that was kept to stderr. Any thread, also in a signal handler. */
void hauli_app_messages_release(void);

#endif
