/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The last poller of a carrier: lets handlers end and sends their packets. A poller of its own, so
 * that the one before it need not check in every cycle for the end.
 */
#include "io/drain.h"

#include "io/handler.h"
#include "io/idle.h"
#include "io/share.h"
#include "io/spread.h"
#include "io/tx.h"

static uint64_t in_flight(const struct hauli_poller *p)
{
	const struct hauli_rxq *r;
	uint64_t n = 0;

	for (r = p->rxqs; r < p->rxqs_end; r++)
		n += hauli_rxq_in_flight(r);
	return n;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* True if the time has come; puts it off by the time for which the carrier has waited for a CPU. */
static bool is_due(struct hauli_poller *p, uint64_t *at, uint64_t now)
{
	if (now < *at)
		return false;
	*at += hauli_delay_since(p->carrier, &p->delay_seen);
	return now >= *at;
}

/* Bound on a sleep while handlers run: packets that targets hand over to a proxy do not end it. */
#define SLEEP_NS (100 * HAUL_US)

/* Sends and waits for handlers until none is left, and the NIC has taken all packets or its time is
 * over. */
static void drain(struct hauli_poller *p)
{
	uint64_t cancel_at = p->cancel_at;
	uint64_t give_up_at = HAUL_FOREVER;
	bool handlers = true, cancels = false;
	struct hauli_chosen late = {.is_chosen = hauli_is_handler, .sites = &p->cancelled};

	/* In virtual time the carrier sleeps in hauli_idle_sleep_until() only. */
	while (hauli_glue_go_on(p->carrier, hauli_glue_is_virtual(p->carrier))) {
		uint64_t now = haul_now();

		if (hauli_has_to_send(p))
			hauli_tx_flush(p);
		if (handlers && in_flight(p) == 0 && hauli_spread_is_drained(p)) {
			handlers = false;
			(void)hauli_delay_since(p->carrier, &p->delay_seen);
			give_up_at = earlier(give_up_at, now + HAULI_LINGER_NS);
		}
		if ((!handlers && !hauli_has_to_send(p)) || is_due(p, &give_up_at, now))
			return;
		if (handlers && is_due(p, &cancel_at, now)) {
			hauli_glue_cancel_records(p->carrier);
			cancels = true;
			/* The end began before this poller: a late poller has less time, but
			 * some. */
			give_up_at = cancel_at + HAULI_GRACE_NS;
			if (give_up_at < now + HAULI_LINGER_NS)
				give_up_at = now + HAULI_LINGER_NS;
			cancel_at = HAUL_FOREVER;
		}
		/* The carrier has one poller, so each handler at home there is p's. */
		cancels = cancels && hauli_glue_cancel_some(p->carrier, &late);
		/* Sleeps, because on a busy machine a poller that spins often waits for a CPU, and
		 * the handlers' time leaves that out: one that is stuck in haul_mutex_lock() would
		 * hold up the stop for much longer. */
		if (handlers && !cancels && !hauli_has_to_send(p))
			hauli_idle_sleep_until(p, now + SLEEP_NS);
	}
}

void *hauli_drain(void *arg)
{
	struct hauli_poller *p = arg;

	hauli_spread_drop_received(p);
	drain(p);
	if (p->works)
		hauli_share_work_ends(p);
	hauli_tx_close(p);
	hauli_u32_published_set(&p->drained, 1);
	return NULL;
}
