/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Promise: the mailboxes of a carrier's flows hold at most mail.most packets together.
 *
 * Receivers do not count, as they are any coroutines on any carrier, in a select too. The owner
 * alone puts packets, and each put returns how many the mailbox holds then: flow->noted. Later on
 * some may be received, but none is put, so the sum of these numbers, mail.nb, is never below the
 * truth. Where it is above the truth, packets have been received since. Flows with a number are in
 * a list, oldest first, and when the sum is at its limit, a put that finds no receiver looks at the
 * first few of them again. A flow whose receiver waits costs one comparison.
 *
 * The NULL of an ICMP error is not counted unless a packet comes after it: it holds no buffer.
 */
#include "host/mailbox.h"

#include <rte_mempool.h>

#include "io/state.h"

#define LOOKS 4 /* at flows, of a put that finds no room: a flood must not make them many */

void hauli_mail_init(struct hauli_flows_carrier *c, const struct haul_io *io, unsigned nb_carriers)
{
	const struct rte_mempool *pool = io->opts.pool;

	c->mail.most = pool ? pool->size / HAULI_MAIL_PART / nb_carriers : UINT_MAX;
	if (c->mail.most < HAULI_FLOW_MAILBOX)
		c->mail.most = HAULI_FLOW_MAILBOX;
}

static void append(struct hauli_mail *mail, struct haul_flow *flow)
{
	flow->mail_before = mail->last;
	flow->mail_after = NULL;
	*(mail->last ? &mail->last->mail_after : &mail->first) = flow;
	mail->last = flow;
}

static void take_out(struct hauli_mail *mail, struct haul_flow *flow)
{
	*(flow->mail_before ? &flow->mail_before->mail_after : &mail->first) = flow->mail_after;
	*(flow->mail_after ? &flow->mail_after->mail_before : &mail->last) = flow->mail_before;
}

void hauli_mail_note(struct hauli_flows_carrier *c, struct haul_flow *flow, unsigned nb)
{
	if (flow->noted == 0 && nb > 0)
		append(&c->mail, flow);
	else if (flow->noted > 0 && nb == 0)
		take_out(&c->mail, flow);
	c->mail.nb += nb - flow->noted;
	flow->noted = nb;
}

bool hauli_mail_has_room(struct hauli_flows_carrier *c)
{
	struct hauli_mail *mail = &c->mail;

	for (unsigned i = 0; i < LOOKS && mail->nb >= mail->most && mail->first; i++) {
		struct haul_flow *flow = mail->first;

		take_out(mail, flow);
		append(mail, flow);
		hauli_mail_note(c, flow, hauli_chan_used(flow->mailbox));
	}
	return mail->nb < mail->most;
}

int hauli_mail_put_late(struct hauli_flows_carrier *c, struct haul_flow *flow, struct rte_mbuf *pkt)
{
	int n = -EAGAIN;

	if (hauli_mail_has_room(c))
		n = hauli_chan_post(flow->mailbox, &pkt, UINT_MAX);
	if (n < 0)
		return n;
	hauli_mail_note(c, flow, (unsigned)n);
	return 0;
}
