/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Simulated files: what stands behind descriptors, as the kernel's open file descriptions do. All
 * of a simulation's are used by its one real thread, and no other simulated thread goes on within a
 * call but where it waits.
 */
#ifndef HAULI_SIM_FDS_FILE_H
#define HAULI_SIM_FDS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sim/fds/bytes.h"

struct hauli_sim_file;

/* Events are those of poll(2), which those of epoll(7) equal. */
#define HAULI_SIM_IN 0x041u /* POLLIN, POLLRDNORM */
#define HAULI_SIM_OUT 0x104u /* POLLOUT, POLLWRNORM */
#define HAULI_SIM_ERR 0x008u
#define HAULI_SIM_HUP 0x010u
#define HAULI_SIM_RDHUP 0x2000u
#define HAULI_SIM_ALWAYS (HAULI_SIM_ERR | HAULI_SIM_HUP)

/* Of calls: what can be done at once, or -errno; -EAGAIN: the call waits for an event. */
struct hauli_sim_file_kind {
	ssize_t (*read)(struct hauli_sim_file *f, struct hauli_sim_bytes *to);
	ssize_t (*write)(struct hauli_sim_file *f, struct hauli_sim_bytes *from);
	uint32_t (*events)(struct hauli_sim_file *f); /* which it has now */
	int (*readable)(struct hauli_sim_file *f); /* FIONREAD; NULL: no such request */
	void (*release)(struct hauli_sim_file *f); /* its last number is closed: frees it */
	int (*fails)(
		struct hauli_sim_file *f, bool is_write); /* by the seed: -errno; NULL: never */
	/* A write that blocks goes on until it has written all. */
	bool is_stream;
};

/* Somebody who is told of a file's events. */
struct hauli_sim_watch {
	struct hauli_sim_watch *next,
		**prev; /* of those of the file, in the order in which they are told */
	struct hauli_sim_file *file;
	uint32_t events; /* the others it is not told of, but HAULI_SIM_ALWAYS */
	void *owner;
	void (*changed)(struct hauli_sim_watch *w); /* may neither wait nor end watches */
	void (*gone)(struct hauli_sim_watch *w); /* the file is released; ends the watch */
	/* Of a thread that holds the file: the host's. */
	struct hauli_sim_watch *next_hold, **prev_hold;
	unsigned host;
};

struct hauli_sim_file {
	const struct hauli_sim_file_kind *kind;
	int flags; /* O_NONBLOCK, O_ACCMODE, O_DIRECT */
	unsigned refs; /* numbers, and threads that hold it */
	unsigned host; /* of the thread that has made its last number */
	uint64_t in_ns, out_ns; /* SO_RCVTIMEO, SO_SNDTIMEO; 0: none */
	struct hauli_sim_watch *first;
};

void hauli_sim_file_init(
	struct hauli_sim_file *f, const struct hauli_sim_file_kind *kind, int flags);
void hauli_sim_file_put(struct hauli_sim_file *f);

/* These events may be new: who watches looks. */
void hauli_sim_file_changed(struct hauli_sim_file *f, uint32_t events);

/* Is told before all others, as by the kernel; or after them. */
void hauli_sim_watch_begin(struct hauli_sim_watch *w, struct hauli_sim_file *f, bool last);
void hauli_sim_watch_end(struct hauli_sim_watch *w);

/* The current thread holds f: another one may close it during a wait. */
void hauli_sim_hold(struct hauli_sim_watch *w, struct hauli_sim_file *f);
void hauli_sim_let_go(struct hauli_sim_watch *w);
/* The threads of a host are gone, and hold nothing. */
void hauli_sim_files_kill(unsigned host);
/* Threads of an earlier simulation hold nothing. */
void hauli_sim_files_forget(void);

/* A thread that waits for one of some files, which it holds meanwhile. */
struct hauli_sim_waiter {
	struct hauli_sim_watch *watches;
	unsigned n;
};

void hauli_sim_waiter_add(struct hauli_sim_waiter *w, struct hauli_sim_watch *watch,
	struct hauli_sim_file *f, uint32_t events);
void hauli_sim_waiter_end(struct hauli_sim_waiter *w);

/* Calls attempt(f, arg) until it returns something else than -EAGAIN, again after each of these
 * events, or until a time: -EAGAIN. 0: once. */
ssize_t hauli_sim_file_try(struct hauli_sim_file *f, uint32_t events, uint64_t until,
	ssize_t (*attempt)(struct hauli_sim_file *f, void *arg), void *arg);

/* How long a call that begins now may wait for one of these events: 0 with O_NONBLOCK, or if it
 * does not wait. */
uint64_t hauli_sim_file_until(const struct hauli_sim_file *f, uint32_t events, bool waits);

#endif
