/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The numbers of simulated files.
 *
 * Each is a real descriptor as well, of a file on which all fails (O_PATH): so the kernel chooses
 * the numbers, the lowest that is free from 32 on; a program that has too many gets EMFILE; dup2()
 * may put a real file in the place of a simulated one, and the other way round; and a call that is
 * not simulated fails with EBADF.
 */
#ifndef HAULI_SIM_FDS_TABLE_H
#define HAULI_SIM_FDS_TABLE_H

#include "sim/fds/file.h"

/* A new number, which holds f. flags: O_CLOEXEC and others. -errno: f is released. */
int hauli_sim_fds_add(struct hauli_sim_file *f, int flags);
/* Two. 0, or -errno: both are released. */
int hauli_sim_fds_add_pair(
	struct hauli_sim_file *a, struct hauli_sim_file *b, int flags, int fds[2]);
/* f in the place of a real descriptor, which it returns. */
int hauli_sim_fds_add_at(struct hauli_sim_file *f, int fd);

/*
 * A call of a simulated thread on a number begins: others may go on before, and time passes.
 * NULL: the number is not simulated, or nothing is. *err: the call is to fail, by the seed; NULL:
 * it never does.
 */
struct hauli_sim_file *hauli_sim_fds_enter(const char *call, int fd, int *err);
/* The same of a call without a number: true if it is simulated. */
bool hauli_sim_fds_enter_new(const char *call, int *err);

/* Without entering a call; NULL: not a simulated one. */
struct hauli_sim_file *hauli_sim_fds_file(int fd);

/* What the kernel has: it changes with each call on a real descriptor. */
extern struct hauli_sim_file hauli_sim_fds_kernel;
void hauli_sim_fds_passed(void);

/* The result of a call that is -errno in libc's form. */
ssize_t hauli_sim_fds_result(ssize_t n);

/* The threads of a host are gone: its numbers are closed, as by the end of a process. */
void hauli_sim_fds_kill(unsigned host);

/* Begin and end of a simulation, on no simulated thread. begin: 0 or -errno. */
int hauli_sim_fds_begin(void);
void hauli_sim_fds_end(void);

#endif
