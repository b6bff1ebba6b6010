/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/through.h"

#include <errno.h>
#include <stdio.h>

#include "io/on_carrier.h"

int hauli_move_on(const struct haul_io *io, unsigned carrier, haul_fn *fn, void *arg,
	uint64_t timeout_ns, char *why, size_t len)
{
	const struct hauli_poller *p = io->pollers[carrier];
	int err = 0;

	if (p->carrier == haul_carrier_self())
		(void)fn(arg);
	else
		err = hauli_on_carrier(p, "move", fn, arg, timeout_ns);
	if (err)
		hauli_on_carrier_tell(p, err, why, len);
	return err;
}

static bool is_full(const struct hauli_rxq *r)
{
	return r->on_packet && hauli_rxq_in_flight(r) >= r->max_in_flight;
}

int hauli_take_all(const struct hauli_poller *p, const struct hauli_rxq *r, hauli_left_fn *is_left,
	const void *arg, char *why, size_t len)
{
	uint64_t taken = hauli_counter_read(&r->packets), since = haul_now();

	while (p->runs && is_left(r, arg)) {
		if (!is_full(r) || hauli_counter_read(&r->packets) != taken) {
			taken = hauli_counter_read(&r->packets);
			since = haul_now();
		} else if (haul_now() - since >= HAUL_IO_MOVE_MAX) {
			snprintf(why, len,
				"carrier %u has as many handlers that wait as it may have, and "
				"begins no packets",
				haul_carrier_id(p->carrier));
			return -EBUSY;
		}
		haul_yield();
	}
	return 0;
}

static uint64_t popped(const struct hauli_tx *tx)
{
	return hauli_counter_read(&tx->sent) + hauli_counter_read(&tx->refused) +
		hauli_counter_read(&tx->stopping);
}

static void wait_for_queue(const struct hauli_poller *p, const struct hauli_tx *tx,
	const struct hauli_move_limit *limit)
{
	uint64_t last = popped(tx) + hauli_txq_count(&tx->q);

	while (popped(tx) < last && !hauli_move_limit_is_over(p, limit))
		haul_yield();
}

void hauli_get_through(const struct hauli_poller *p)
{
	struct hauli_move_limit limit;

	hauli_wait_for_cycles(p, hauli_counter_read(&p->cycles) + 2);
	limit = hauli_move_limit(p);
	while (hauli_glue_any_stolen(p->carrier) && !hauli_move_limit_is_over(p, &limit))
		haul_yield();
	for (unsigned i = 0; i < p->nb_ports; i++)
		wait_for_queue(p, &p->txs[i], &limit);
}

static bool is_empty(const struct hauli_tx_proxy *proxy)
{
	return proxy->first == proxy->end && hauli_handover_is_empty(&proxy->in);
}

/* On the carrier of a proxy: until it has passed on what its targets have handed over. */
static void *pass_on(void *arg)
{
	const struct hauli_rxq *r = arg;
	const struct hauli_tx_proxy *proxy = r->proxy;
	uint64_t emptied = hauli_counter_read(&proxy->emptied);
	struct hauli_move_limit limit = hauli_move_limit(r->poller);

	while (!is_empty(proxy) && hauli_counter_read(&proxy->emptied) == emptied &&
		!hauli_move_limit_is_over(r->poller, &limit))
		haul_yield();
	return NULL;
}

int hauli_pass_all_on(
	const struct haul_io *io, unsigned from, uint64_t timeout_ns, char *why, size_t len)
{
	const struct hauli_poller *p = io->pollers[from];
	int err = 0;

	for (unsigned i = 0; i < p->nb_ports && !err; i++) {
		const struct hauli_rps_target *target = p->rxqs[i].target;
		unsigned carrier;

		if (!target)
			continue;
		carrier = haul_carrier_id(target->proxy->in.owner);
		err = hauli_move_on(
			io, carrier, pass_on, &io->pollers[carrier]->rxqs[i], timeout_ns, why, len);
	}
	return err;
}
