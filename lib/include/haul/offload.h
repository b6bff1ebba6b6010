/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that block their thread, such as getaddrinfo() or those of a database's library: on threads
 * that are no carriers, so that the carrier runs other coroutines meanwhile.
 *
 * The process has one pool of such threads for all its runtimes. They are started as they are
 * needed, and end when they have been idle for long, all but one; the last haul_stop() ends all of
 * them. They run on CPUs without carriers, if the process may use some, else on all that it may
 * use.
 */
#ifndef HAUL_OFFLOAD_H
#define HAUL_OFFLOAD_H

#include <haul/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Runs fn(arg) on a thread of the pool, and returns when it has returned. fn is on an ordinary
 * thread: it may block, and may call what haul's headers allow to any thread. Signals are blocked
 * there, other than those of faults; a program that fn starts inherits that. The caller's memory,
 * also that on its stack, is as it was: nobody else runs the caller meanwhile.
 *
 * If all threads of the pool run calls, this one waits in a queue, first come, first served. The
 * deadline is that of the queue: a call that has begun is finished, whatever passes or is cancelled
 * meanwhile, and is reported as done. deadline 0: does not queue. Returns
 *	0           fn was called, and has returned; all other results: it was not called
 *	-EAGAIN     no thread is idle, none may be started, and the deadline is 0
 *	-ENOBUFS    the queue is full
 *	-ETIMEDOUT  the deadline, or that of an enclosing scope, has passed in the queue
 *	-ECANCELED  the caller is cancelled (haul_cancel())
 *	-ENOMEM     there is no thread, and none could be started
 *	-EPERM      in a child of fork(), which has no such threads
 * It needs a coroutine, with deadline 0 too, and not in a burst handler: an ordinary thread calls
 * fn itself. haul_stop() ends waits in the queue, and waits for calls that have begun, as long as
 * its time allows. Virtual time stands still until the call returns.
 */
HAUL_API int haul_offload(void (*fn)(void *arg), void *arg, uint64_t deadline) HAUL_SUSPENDS;

/* Limits of the pool. A field that is 0 means the default. */
#define HAUL_OFFLOAD_THREADS_MAX 4096u
struct haul_offload_opts {
	unsigned threads; /* maximum; 0: 64 */
	unsigned queue; /* maximum of calls that wait for a thread; 0: 1024 */
	/* A thread that was idle for that long ends, if another one is idle; 0: 10 s; HAUL_FOREVER:
	 * it stays. */
	uint64_t idle_ns;
};

/* Sets the limits. Calls that run or wait already are not affected, nor is the idle time of threads
 * that are idle now. Any thread, at any time. Does not suspend. Returns 0, or -EINVAL: threads is
 * above HAUL_OFFLOAD_THREADS_MAX. */
HAUL_API int haul_offload_set(const struct haul_offload_opts *opts);

/* Figures of the pool since the start of the process. */
struct haul_offload_stats {
	unsigned threads; /* now, with those that are being started */
	unsigned queued; /* calls that wait for a thread now */
	unsigned running; /* calls that have begun and not ended */
	uint64_t done; /* calls that have ended */
	uint64_t refused; /* with -ENOBUFS */
	uint64_t withdrawn; /* that left the queue, by a deadline or a cancel */
	uint64_t queue_ns_max; /* the longest wait in the queue; real time */
};

/* Copies the figures into *st. Any thread. Does not suspend. */
HAUL_API void haul_offload_get_stats(struct haul_offload_stats *st);

#ifdef __cplusplus
}
#endif

#endif
