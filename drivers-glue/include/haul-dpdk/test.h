/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of packet handlers: ports in virtual time, to which a test feeds frames, and from which it
 * takes what was sent. Handlers and options are those of haul_io_start(), unchanged. Time stands
 * still while a handler runs or can run, and jumps to the next deadline when all wait: a test of an
 * hour takes no time, and frames have the exact time at which they were sent. Needs no privileges,
 * no huge pages and no NIC. docs/guide/testing.md
 */
#ifndef HAUL_DPDK_TEST_H
#define HAUL_DPDK_TEST_H

#include <haul-dpdk/io.h>

#ifdef __cplusplus
extern "C" {
#endif

struct haul_test;

#define HAUL_TEST_PORTS_MAX 16

/* Options of a test. NULL, or a struct of zeros, means the defaults. */
struct haul_test_opts {
	unsigned ports; /* 1 to 16; 0: 1 */
	unsigned carriers; /* 1 to 64, threads that float; each has a queue of each port; 0: 1 */
	unsigned mbufs; /* packet buffers of the pool; 0: 4,096 */
};

/*
 * Starts EAL if it does not run, a runtime with virtual time, and the pollers of the ports. Of *io
 * the handlers and what belongs to them count: on_burst, on_packet or source, burst,
 * max_in_flight, coro, send_order, drop_names, peers, arg; nothing is stolen, and pollers spin. One
 * test at a time in a process. Any thread that is no carrier. Returns 0, and the caller owns *t
 * until haul_test_stop(); or an error of haul_eal_init(), haul_start() or haul_io_start(), -EINVAL
 * (options), -EBUSY (there is a test) or -EPERM (called on a carrier), with one line in errbuf.
 */
HAUL_API int haul_test_start(struct haul_test **t, const struct haul_io_opts *io,
	const struct haul_test_opts *opts, char *errbuf, size_t errlen);

/* Runs body(arg), the test, in a coroutine on carrier 0, and waits until it has returned. Any
 * thread that is no carrier. Returns 0, or an error of haul_spawn_on(). */
HAUL_API int haul_test_run(struct haul_test *t, void (*body)(void *arg), void *arg);

/*
 * A frame arrives on a port. carrier: whose queue it takes; HAUL_ANY: by its flow
 * (haul_net_flow()). haul_test_feed() copies len bytes, haul_test_feed_pkt() gives a packet of
 * haul_test_pool() away. By coroutines. They do not suspend. Return 0; -EINVAL (no such port or
 * carrier, or len is 0 or above what a buffer holds); -ENOMEM (haul_test_feed(): no buffer is
 * free).
 */
HAUL_API int haul_test_feed(
	struct haul_test *t, unsigned port, unsigned carrier, const void *frame, size_t len);
HAUL_API int haul_test_feed_pkt(
	struct haul_test *t, unsigned port, unsigned carrier, struct rte_mbuf *pkt);

/* A frame that was sent. */
struct haul_test_frame {
	struct rte_mbuf *pkt; /* the caller's: to be freed, or fed again */
	unsigned port, carrier; /* where it was sent */
	uint64_t at; /* when: of haul_now()'s clock */
};

/*
 * Takes the first frame that was sent on a port, or on HAUL_ANY, and waits for one until the
 * deadline, a point of haul_now()'s clock. Frames are sorted by the time of the send, then by port,
 * then by carrier, then by the order of the sends: so a test that failed fails again, although
 * carriers run in parallel. The frames of one instant are complete only when it is over, so the
 * clock is at least 1 ns after frame->at when the call returns. By one coroutine at a time.
 * Returns 0; -ETIMEDOUT, -ECANCELED or -EAGAIN (deadline 0) as the calls of haul/sync.h.
 */
HAUL_API int haul_test_take(struct haul_test *t, unsigned port, struct haul_test_frame *frame,
	uint64_t deadline) HAUL_SUSPENDS;

/* What the test runs on; the test owns them. For counters (haul_io_get_stats()), for packets. Any
 * thread. */
HAUL_API struct haul_io *haul_test_io(const struct haul_test *t);
HAUL_API struct haul_runtime *haul_test_runtime(const struct haul_test *t);
HAUL_API struct rte_mempool *haul_test_pool(const struct haul_test *t);

/*
 * Ends the test and frees it. Handlers that wait get timeout_ns of virtual time to end, and are
 * cancelled then. Frees frames that nobody took. Any thread that is no carrier. Returns 0, or with
 * one line in errbuf, and the test is freed all the same:
 *	-EIO	a packet leaked: it was fed, and neither sent, dropped nor freed; a handler has not
 *		ended; or a ledger does not add up (haul_io_stop())
 *	-ETIMEDOUT	a handler or coroutine does not end: nothing is freed
 */
HAUL_API int haul_test_stop(struct haul_test *t, uint64_t timeout_ns, char *errbuf, size_t errlen);

#ifdef __cplusplus
}
#endif

#endif
