/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The wait of a poller: one epoll set with an eventfd, by which other threads end the wait, and a
 * descriptor for each queue whose PMD has one. The kind of descriptor differs by PMD: see struct
 * hauli_kind.
 */
#ifndef HAULI_IO_WAIT_H
#define HAULI_IO_WAIT_H

#include "port/kind.h"

struct hauli_io_wait {
	int epoll; /* -1: not open */
	int wake;
	int fds; /* haul_poller_fd(), when it is in the set; else -1 */
};

/* A queue in the set. Used by the poller; hauli_io_wait_wake() on the set by any thread. */
struct hauli_io_wait_source {
	struct haul_port *port; /* constant, as the next */
	unsigned queue;
	int fd; /* -1: none */
	bool listens; /* its packets end the wait */
	bool armed; /* its interrupt is on */
	bool ready; /* a packet of this queue ended the last wait */
	bool lost; /* its descriptor reported an error, and left the set, or could not enter it */
};

/* The end of a wait: any of these, or none (time-out). */
enum hauli_io_wait_end {
	HAULI_IO_WAIT_END_WOKEN = 1, /* hauli_io_wait_wake(), or a signal */
	HAULI_IO_WAIT_END_READY = 2, /* packets of a queue */
	HAULI_IO_WAIT_END_LOST = 4, /* a queue that left the set */
};

/* 0 or -errno. */
int hauli_io_wait_open(struct hauli_io_wait *w);
void hauli_io_wait_close(struct hauli_io_wait *w);

/* Ends the wait, or the next one if there is none. Any thread; idempotent. */
void hauli_io_wait_wake(struct hauli_io_wait *w);

/* From now on the end of the wait of a call of haul/fd.h ends this wait, too, if there was such a
 * call: to be called before each wait. False: there is no room in the set, so do not wait. */
bool hauli_io_wait_cover_fds(struct hauli_io_wait *w);

/* Adds a queue, not armed; one without a descriptor never ends a wait. The port is started. Remove
 * the queue before the port is closed. */
void hauli_io_wait_add(struct hauli_io_wait *w, struct hauli_io_wait_source *s);
void hauli_io_wait_remove(struct hauli_io_wait *w, struct hauli_io_wait_source *s);

/*
 * arm: listen says whether packets of the queue end the wait. Earlier packets may not end it, so
 * the poller arms all queues, calls hauli_io_wait_armed(), and then polls each once more. disarm:
 * call after the wait. While a queue is armed to listen, its senders pay for the wake-up.
 */
void hauli_io_wait_arm(struct hauli_io_wait *w, struct hauli_io_wait_source *s, bool listen);
void hauli_io_wait_armed(void);
void hauli_io_wait_disarm(struct hauli_io_wait_source *s);

/* Waits until haul_now() reaches until at most. Returns enum hauli_io_wait_end. */
unsigned hauli_io_wait(struct hauli_io_wait *w, uint64_t until);

#endif
