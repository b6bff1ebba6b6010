/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The buffered transmit queue behind haul_try_send() and haul_send(). It holds packets of one
 * carrier's coroutines, oldest first, until the carrier's poller passes them to the NIC. Coroutines
 * that find it full wait in line, each with its packet, and are served in order as room appears.
 * Only the queue's carrier accesses a queue; other threads read the counters and the constants, and
 * a remote coroutine reads `end` (hauli_txq_end()).
 *
 * The packets are contiguous, so a poller can pass them to a burst call as they are.
 */
#ifndef HAULI_NET_TXQ_H
#define HAULI_NET_TXQ_H

#include <haul/net.h>
#include <haul/runtime.h>
#include <haul/sync.h>

#include "base/assert.h"
#include "base/cacheline.h"
#include "base/counter.h"
#include "base/race.h"
#include "sched/state/self.h"
#include "sched/state/wait_list.h"
#include "sched/wait/order.h"

#define HAULI_TXQ_ROOM 512u

struct haul_txq {
	/* Used by each send. Written by the carrier's coroutines and poller. */
	HAULI_LINE uint32_t first; /* index of the oldest packet */
	uint32_t end; /* index after the newest packet */
	/* Limits of `end` for the two fast paths: fast_end unless steals, home_end if steals. 0:
	 * that path is not used, neither is with stamps. Constant */
	uint32_t fast_end, home_end;
	bool *pending; /* set to true by each send, for the poller */
	uint32_t counted; /* index after the newest packet that taken includes */
	struct hauli_counter taken; /* packets accepted by the queue, up to hauli_txq_account() */
	struct hauli_counter taken_bytes; /* of these, if counts_bytes */
	bool closed; /* refuses packets; no coroutine waits */
	bool counts_bytes; /* taken_bytes counts. Constant while the poller runs */
	bool stamps; /* packets get the time of their send (net/stamp.h). Constant, as the next */
	bool steals; /* the carrier's coroutines may be stolen. Constant, as the next two */
	unsigned nb_of_carriers;
	/* By carrier: its queue of the same port, for stolen coroutines that send from where they
	 * run. NULL: they send at home only. */
	struct haul_txq *const *of_carriers;

	/* Used if the queue is full, or if steals. */
	struct hauli_wait_list waiters; /* oldest first */
	struct haul_carrier *carrier; /* constant */

	HAULI_LINE struct rte_mbuf *pkts[HAULI_TXQ_ROOM];
};

HAULI_ASSERT_LINE(struct haul_txq, pkts);

void hauli_txq_init(struct haul_txq *txq, struct haul_carrier *carrier, bool *pending);
/* Sends stamp their packets. Before the first send. */
void hauli_txq_stamps(struct haul_txq *txq);

static inline uint32_t hauli_txq_count(const struct haul_txq *txq)
{
	return txq->end - txq->first;
}

/* Adds the bytes of the packets that are not in `taken` yet. */
void hauli_txq_count_bytes(struct haul_txq *txq);

/* Counts the packets that were sent since the last call as taken: once for many sends. */
static inline void hauli_txq_account(struct haul_txq *txq)
{
	if (hauli_unlikely(txq->counts_bytes))
		hauli_txq_count_bytes(txq);
	hauli_counter_add(&txq->taken, txq->end - txq->counted);
	txq->counted = txq->end;
}

/* The packets, oldest first; valid until the next call on the queue. Each is accounted for before
 * it can leave the queue. */
static inline struct rte_mbuf **hauli_txq_peek(struct haul_txq *txq)
{
	if (txq->counted != txq->end)
		hauli_txq_account(txq);
	return &txq->pkts[txq->first];
}

/* Appends up to n packets, without waiting. Returns their number. The caller has counted them as
 * taken. */
uint32_t hauli_txq_put(struct haul_txq *txq, struct rte_mbuf **pkts, uint32_t n);

/* A remote coroutine reads `end` while its home writes it. */
HAULI_MAY_RACE static inline uint32_t hauli_txq_end(const struct haul_txq *txq)
{
	HAULI_RACES(txq);
	return txq->end;
}

/* True for a coroutine at home, if no coroutine of this home with an order key can be remote. */
static inline bool hauli_txq_is_at_home(const struct haul_txq *txq)
{
	const struct haul_carrier *c = hauli_here();

	return c == txq->carrier && !hauli_order_any_remote(c);
}

/*
 * True: the packet is sent. False: there is no room, or the fast path does not apply. One
 * comparison for both, since fast_end is 0 where coroutines may be stolen, or packets are stamped.
 * A remote coroutine gets false whatever it reads as `end`.
 */
static inline bool hauli_txq_send_fast(struct haul_txq *txq, struct rte_mbuf *pkt)
{
	uint32_t end = hauli_txq_end(txq);

	if (hauli_unlikely(end >= txq->fast_end) &&
		(end >= txq->home_end || !hauli_txq_is_at_home(txq)))
		return false;
	txq->pkts[end] = pkt;
	txq->end = end + 1;
	*txq->pending = true;
	return true;
}

/* Appends the packets of waiting coroutines while there is room. */
void hauli_txq_admit(struct haul_txq *txq);

/* Removes the n oldest packets, which the caller has peeked at. Then admits waiting coroutines. */
static inline void hauli_txq_pop(struct haul_txq *txq, uint32_t n)
{
	HAUL_CHECK(n <= txq->counted - txq->first);
	txq->first += n;
	if (txq->first == txq->end)
		txq->first = txq->end = txq->counted = 0;
	if (hauli_unlikely(txq->waiters.first != NULL))
		hauli_txq_admit(txq);
}

/*
 * A wait for room without a packet, of one that sends by haul_try_send() when there is room: others
 * may be quicker. On the carrier of the queue.
 * watch: sets *w->room when there is room, or the queue is closed; at once if there is. Returns 0;
 *     -ECANCELED (it is closed); -EAGAIN (the coroutine has to wait for earlier ones of its order
 *     key).
 * watch_no_more: after a watch that has returned 0.
 */
struct hauli_txq_watch {
	struct hauli_waiter waiter;
	struct rte_mbuf *pkt; /* NULL: it has none, as those who wait in haul_send() do */
	struct haul_event *room;
	bool waits;
};
int hauli_txq_watch(struct haul_txq *txq, struct hauli_txq_watch *w);
void hauli_txq_watch_no_more(struct haul_txq *txq, struct hauli_txq_watch *w);

/* Closes the queue, which must be empty: sends fail from now on. Waiting coroutines are woken and
 * keep their packets. */
void hauli_txq_close(struct haul_txq *txq);

/* Opens a closed queue again. */
static inline void hauli_txq_open(struct haul_txq *txq)
{
	if (txq->closed)
		txq->first = txq->end = txq->counted = 0;
	txq->closed = false;
}

#endif
