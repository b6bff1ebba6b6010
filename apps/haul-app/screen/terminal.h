/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A terminal that shows frames in place of lines: the alternate screen, keys without echo, and the
 * way back from both, however the program ends. Main thread, unless stated otherwise.
 *
 * It uses the control sequences that all terminals in use share with xterm, and no terminfo.
 */
#ifndef HAULI_APP_SCREEN_TERMINAL_H
#define HAULI_APP_SCREEN_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/* NULL if frames can be shown on the terminal that fd is open for; else the reason. */
const char *hauli_app_terminal_lacks(int fd);

/* True if this process is in the terminal's foreground: its keys are ours. */
bool hauli_app_terminal_is_ours(int fd);

/* Opens the terminal that fd is open for once more, so that O_NONBLOCK affects this process
 * only. Returns the file descriptor, or -errno. */
int hauli_app_terminal_open(int fd);
void hauli_app_terminal_close(void);

/* Shows the alternate screen. Once more, after a SIGCONT: sets the modes that a shell may have
 * reset. */
void hauli_app_terminal_enter(void);

/* Shows the normal screen, with its former modes if is_ours. Waits until a slow terminal has taken
 * all output, at most a second. */
void hauli_app_terminal_leave(bool is_ours);

/* The same at once. Any thread, also in a signal handler. */
void hauli_app_terminal_abandon(void);

void hauli_app_terminal_size(unsigned *columns, unsigned *rows);

/* Writes a frame, or drops it while the terminal has not taken the last one. Returns 0, 1 if it was
 * dropped, or -errno: the terminal has gone. */
int hauli_app_terminal_show(const char *frame, size_t len);

/* Reads keys without waiting. Returns their number, 0 if there are none, or -errno. */
int hauli_app_terminal_keys(char *keys, size_t size);

#endif
