/* SPDX-License-Identifier: BSD-3-Clause */
/* Polls: how a carrier learns from the kernel that calls can go on. One kind for io_uring, one for
 * epoll; what they share. */
#ifndef HAULI_FD_POLL_H
#define HAULI_FD_POLL_H

#include <liburing.h>

#include "fd/slot.h"
#include "sched/state/carrier.h"

/* The polls of a descriptor that are under way. */
struct hauli_fd_polls {
	struct hauli_fd_poll {
		uint32_t number; /* 0: none is under way */
		uint32_t closes; /* the lower half of the value for which it was begun */
	} in[2]; /* by direction */
};

struct hauli_fd_kind;

/* A carrier's. Owner, but `wake`. */
struct hauli_fds {
	const struct hauli_fd_kind *kind;
	struct hauli_fd_polls *polls; /* by descriptor, below nb */
	unsigned nb;
	uint32_t last; /* number of a poll */
	int wake; /* an eventfd. Constant */
	union {
		struct {
			struct io_uring ring;
			uint64_t woken; /* what was read from the eventfd */
			int told; /* another one, which the kernel writes for a poller; or -1 */
		};
		struct {
			int epoll;
			uint32_t polling; /* the number of polls under way */
			uint64_t look_at; /* ticks: when a carrier that is awake asks again */
		};
	};
};

struct hauli_fd_kind {
	struct hauli_fds_kind sched;
	enum haul_fds which;
	int (*open)(struct haul_carrier *c, struct hauli_fds *f);
	/* Begins p, the poll of fd in a direction; its number is new. 0 or -errno. */
	int (*begin)(struct haul_carrier *c, int fd, enum hauli_fd_dir dir);
	void (*end)(struct haul_carrier *c, int fd, enum hauli_fd_dir dir);
};

static inline struct hauli_fds *hauli_fds_of(const struct haul_carrier *c)
{
	return c->fds.own;
}

/* Begins the poll of fd in a direction for this value, if it is not under way. 0 or -errno. */
int hauli_fd_poll(struct haul_carrier *c, int fd, enum hauli_fd_dir dir, uint64_t closes);

/* Ends the poll for this value, if it is under way and nobody of c waits for it. */
void hauli_fd_poll_no_more(struct haul_carrier *c, int fd, enum hauli_fd_dir dir, uint64_t closes);

/* The kernel tells that the poll with this number has ended; it is under way no more. */
void hauli_fd_poll_ended(struct haul_carrier *c, int fd, enum hauli_fd_dir dir, uint32_t number);

/* For the kinds: the part of open() and close() that they share. */
int hauli_fds_open_wake(struct hauli_fds *f);
void hauli_fds_wake(struct haul_carrier *c);
void hauli_fds_free(struct haul_carrier *c);

#endif
