/* SPDX-License-Identifier: BSD-3-Clause */
/* Overload control of a receive queue (haul-dpdk/overload.h). All functions: the queue's poller,
 * unless they say more. */
#ifndef HAULI_IO_SHED_H
#define HAULI_IO_SHED_H

#include "io/packet.h"
#include "io/state.h"
#include "net/late.h"
#include "net/sketch.h"

/* Packets of a late cycle: at most HAULI_BURST_MAX begin. */
#define HAULI_SHED_BURST 64u /* per burst call */
#define HAULI_SHED_ROOM (HAULI_BURST_MAX / 2u) /* packets of class other that begin */
#define HAULI_SHED_FIRST (HAULI_BURST_MAX / 2u) /* of class first */

/* Bursts whose handlers have not all begun. */
#define HAULI_SHED_WAITING 32u

/* The senders of all queues of a carrier. */
struct hauli_crowd {
	struct hauli_sketch sketch;
	uint64_t total; /* of all counts, which fades as they do */
	uint64_t halved; /* when the counts were halved last; ticks */
	uint32_t limit; /* a source with a higher count sends more than its share */
};

struct hauli_shed {
	/* The poller's. */
	struct hauli_late late;
	struct hauli_crowd *crowd;
	haul_class_fn *classify; /* NULL: haul_class_default() */
	/* No packet in the queue is older than this: it was empty, or its capacity has been
	 * received since. Ticks; 0: not known yet */
	uint64_t young_since;
	uint64_t
		serves_since; /* the end of the last late cycle's reception; 0: this is the first */
	uint64_t lap_at; /* when `lap` packets were not received yet */
	uint64_t lap;
	uint64_t room; /* the queue's capacity */
	uint16_t got; /* by the last burst call of a proxy; UINT16_MAX: it could not receive */

	/* Bursts that wait in the run queue, oldest first: a ring. */
	struct {
		uint64_t end; /* the number of handlers up to the last one of the burst */
		uint64_t at; /* when it was received */
	} waiting[HAULI_SHED_WAITING];
	unsigned oldest, nb_waiting;
	struct hauli_counter begun; /* handlers. Written by handlers */
	struct hauli_counter undone; /* records that never began */

	/* Poller; read by any thread. */
	struct hauli_counter episodes, first, other, demoted;
	struct hauli_stopwatch late_time; /* runs while the queue is late */

	HAULI_LINE struct hauli_u64_shared remote_begun; /* by stolen handlers */
};

/* A packet that may begin. */
struct hauli_shed_pkt {
	struct rte_mbuf *pkt;
	uint32_t count; /* of its source, with this packet */
	uint32_t number; /* by arrival, in its cycle */
};

/* What a late cycle received, sorted. On the poller's stack. */
struct hauli_shed_batch {
	struct hauli_rxq *r;
	uint64_t began; /* ticks, as the next */
	uint64_t end; /* of reception, although the queue is not empty */
	uint64_t taken; /* packets */
	unsigned room; /* packets of class other that may begin */
	unsigned greedy_room; /* the same, of sources that send more than their share */
	unsigned small_room; /* the same, of sources that send far less */
	unsigned nb_first, nb_kept, nb_late, nb_over;
	uint32_t seen; /* of class other */
	struct rte_mbuf *first[HAULI_SHED_FIRST];
	struct hauli_shed_pkt kept[HAULI_SHED_ROOM]; /* a heap: the highest count is on top */
	struct rte_mbuf *late[HAULI_SHED_BURST], *over[HAULI_SHED_BURST]; /* to be dropped */
};

/* For all queues of a poller, if the options ask for it. False: no memory. Any thread, before the
 * poller runs; free after it. */
bool hauli_shed_create(const struct haul_io *io, struct hauli_poller *p);
void hauli_shed_free(struct hauli_poller *p);

/* Before the first cycle, and after the last one. */
void hauli_shed_begin(struct hauli_rxq *r);
void hauli_shed_end(struct hauli_rxq *r);

/* A calm queue was polled: got of at most `most` packets. False: it is late. */
bool hauli_shed_is_calm(struct hauli_rxq *r, uint64_t now, uint16_t got, uint16_t most);

/* False: leave packets in the NIC, because a handler waits for too long in the run queue, or the
 * queue is at max_in_flight (full). A late queue is polled nevertheless, for packets to be
 * dropped. */
bool hauli_shed_polls(struct hauli_rxq *r, uint64_t now, bool full);

/* A late cycle: begins; sorts packets; true: there is room and time for another burst; ends, which
 * drops the excess, puts those that begin into pkts, and returns their number. */
void hauli_shed_open(struct hauli_shed_batch *b, struct hauli_rxq *r, uint64_t now);
void hauli_shed_sort(struct hauli_shed_batch *b, struct rte_mbuf **pkts, uint16_t n);
bool hauli_shed_goes_on(const struct hauli_shed_batch *b);
/* is_empty: the last burst call has emptied the queue. */
uint16_t hauli_shed_close(struct hauli_shed_batch *b, struct rte_mbuf **pkts, bool is_empty);

/* Handlers of a burst that was received at that time wait in the run queue, or have run. */
void hauli_shed_started(struct hauli_rxq *r, uint64_t at);

/* A handler begins, on any carrier if `anywhere`; or a record is dropped before. */
static inline void hauli_shed_begins(struct hauli_rxq *r, bool anywhere)
{
	if (anywhere && hauli_rxq_is_remote(r))
		hauli_u64_shared_add(&r->shed->remote_begun, 1);
	else
		hauli_counter_add(&r->shed->begun, 1);
}

/* Adds the counters of a queue. Any thread. */
void hauli_shed_add(const struct hauli_rxq *r, struct haul_overload_stats *st);

#endif
