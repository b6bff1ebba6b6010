/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The buffered transmit queue behind haul_try_send() and haul_send(): packets that coroutines of
 * one carrier want to send, oldest first, until that carrier's poller hands them to the NIC.
 * Coroutines that find no room wait in line, each with its packet, and are served in order as room
 * appears. Everything here is touched by the queue's carrier only;
 * counters may be read by any thread.
 *
 * The packets lie in one piece, so that a poller can give them to a burst call as they are.
 */
#ifndef HAULI_NET_TXQ_H
#define HAULI_NET_TXQ_H

#include <haul/net.h>
#include <haul/runtime.h>

#include "base/cacheline.h"
#include "base/counter.h"
#include "sched/wait_list.h"

#define HAULI_TXQ_ROOM 512u

struct haul_txq {
	/* What a sender touches. Written by coroutines and the poller of the carrier. */
	HAULI_LINE uint32_t first; /* index of the oldest packet */
	uint32_t end; /* and behind the newest */
	uint32_t fast_end; /* constant: where the room of the fast path ends; steals: 0 */
	bool *pending; /* set with each packet: the poller has something to do */
	struct hauli_counter taken; /* packets that became the queue's */
	struct hauli_counter taken_bytes;
	bool closed; /* no more packets; nobody waits */
	bool steals; /* constant, as the next two: coroutines of the carrier may be stolen */
	unsigned nb_of_carriers;
	/* The same port's queue of each carrier, through which a stolen coroutine sends where it
	 * runs; NULL: at home only. */
	struct haul_txq *const *of_carriers;

	/* What is touched when the queue is full. */
	struct hauli_wait_list waiters; /* oldest first */
	struct haul_carrier *carrier; /* constant */

	HAULI_LINE struct rte_mbuf *pkts[HAULI_TXQ_ROOM];
};

HAULI_ASSERT_LINE(struct haul_txq, pkts);

void hauli_txq_init(struct haul_txq *txq, struct haul_carrier *carrier, bool *pending);

static inline uint32_t hauli_txq_count(const struct haul_txq *txq)
{
	return txq->end - txq->first;
}

/* The packets, oldest first; valid until the next call on the queue. */
static inline struct rte_mbuf **hauli_txq_peek(struct haul_txq *txq)
{
	return &txq->pkts[txq->first];
}

/* Puts up to n packets on the queue, without waiting; returns how many. The caller has counted
 * them as taken. */
uint32_t hauli_txq_put(struct haul_txq *txq, struct rte_mbuf **pkts, uint32_t n);

/* Takes the n oldest packets off, then lets those in who wait for room. */
void hauli_txq_pop(struct haul_txq *txq, uint32_t n);

/* From now on the queue is full for all; waiters are woken and keep their packets. */
void hauli_txq_close(struct haul_txq *txq);

#endif
