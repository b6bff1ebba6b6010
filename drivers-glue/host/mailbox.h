/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The packets that wait in the mailboxes of a carrier's flows, and their limit: each holds a buffer
 * of the pool, and without a limit of all together a flood of flows takes all of them. On the
 * owner's thread.
 */
#ifndef HAULI_HOST_MAILBOX_H
#define HAULI_HOST_MAILBOX_H

#include "host/flow_state.h"
#include "sync/chan.h"

/* Of all flows of all carriers together: this part of the pool. */
#define HAULI_MAIL_PART 4

void hauli_mail_init(struct hauli_flows_carrier *c, const struct haul_io *io, unsigned nb_carriers);

/* True if one more packet may wait. Looks at some flows whose packets have been received since. */
bool hauli_mail_has_room(struct hauli_flows_carrier *c);

/* The owner has seen nb packets in the mailbox. */
void hauli_mail_note(struct hauli_flows_carrier *c, struct haul_flow *flow, unsigned nb);

/* Nobody uses the mailbox any more. */
static inline void hauli_mail_forget(struct hauli_flows_carrier *c, struct haul_flow *flow)
{
	if (flow->noted)
		hauli_mail_note(c, flow, 0);
}

/* Out of line: there is no room, unless something was received. */
int hauli_mail_put_late(
	struct hauli_flows_carrier *c, struct haul_flow *flow, struct rte_mbuf *pkt);

/* Gives a packet to a receiver that waits, or puts it into the mailbox. 0; -EAGAIN: there is no
 * room there, or for packets of the carrier's flows; -EPIPE: the mailbox is closed. */
static inline int hauli_mail_put(
	struct hauli_flows_carrier *c, struct haul_flow *flow, struct rte_mbuf *pkt)
{
	bool room = c->mail.nb < c->mail.most;
	int n = hauli_chan_post(flow->mailbox, &pkt, room ? UINT_MAX : 0);

	if (hauli_unlikely(n != (int)flow->noted)) {
		if (n == -EAGAIN && !room)
			return hauli_mail_put_late(c, flow, pkt);
		if (n < 0)
			return n;
		hauli_mail_note(c, flow, (unsigned)n);
	}
	return 0;
}

#endif
