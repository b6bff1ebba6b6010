/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The path of --hand-over: a socket of the program that serves. One that starts has PATH.lock
 * locked until it serves, so that no two of them are the first, or take over from the same one;
 * then PATH.new gets the name PATH. Main thread; functions return 0 or -errno.
 */
#ifndef HAULI_APP_PROCESS_HAND_OVER_PATH_H
#define HAULI_APP_PROCESS_HAND_OVER_PATH_H

#include <stdbool.h>
#include <sys/types.h>

/* False: too long, or it does not begin with /. */
bool hauli_path_is_right(const char *path);

/* -EBUSY: the process *pid has it; -EPERM: another user's file is there. */
int hauli_path_lock(const char *path, pid_t *pid);
void hauli_path_unlock(const char *path);

/* To the one that serves: a descriptor. -ENOENT: nobody does; -ENOTSOCK: a file of another kind is
 * there. Waits while many connect. */
int hauli_path_connect(const char *path);

/* Only this user and root may have the ports. */
bool hauli_path_is_trusted(int fd, pid_t *pid);

/* The name changes its owner at once: who comes meets the one or the other. A descriptor. */
int hauli_path_listen(const char *path);
/* Closes fd; removes the name if it is ours, unless another program is about to replace it. */
void hauli_path_leave(const char *path, int fd, bool is_replaced);

#endif
