/* SPDX-License-Identifier: BSD-3-Clause */
/* All flows of a host: packets for them, hand-overs, idle ones, start and stop. The argument is in
 * flow.c. */
#include "host/flows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/flow.h"
#include "host/listen.h"
#include "host/mailbox.h"
#include "host/neighbour.h"
#include "host/steer_port.h"
#include "io/state.h"

#define FLOWS_AT_FIRST 256 /* of a carrier: room in its table */
#define SLOTS_AT_ONCE 1024 /* of a table, between two yields: some microseconds */
#define IDLE_PARTS 8 /* idle flows are looked for so often in the shortest idle time */

static struct haul_flow *flow_of(struct hauli_flow_link *link)
{
	return (struct haul_flow *)link;
}

/* On the owner's thread. */
static void deliver_error(
	struct hauli_flows_carrier *c, struct haul_flow *flow, const struct hauli_arrival *a)
{
	static struct rte_mbuf *const none;

	hauli_counter_add(&c->errors, 1);
	if (hauli_u32_published_get(&flow->has_error))
		return;
	flow->error = a->error;
	flow->error_from = a->error_from;
	hauli_u32_published_set(&flow->has_error, 1);
	if (haul_chan_send(flow->mailbox, &none, 0))
		hauli_u32_published_set(&flow->has_error, 0);
}

/* Something has come: what was sent before has arrived, and so the neighbour forwards packets, or
 * answers itself. */
static void confirm_way(struct haul_flow *flow)
{
	uint64_t way = hauli_u64_shared_get(&flow->unanswered);
	unsigned port = (unsigned)(way >> 32) - 1;

	if (way == 0)
		return;
	hauli_u64_shared_set(&flow->unanswered, 0);
	if (hauli_unlikely(!hauli_neigh_is_reachable_at(
		    flow->host->ports[port].neighbours, (uint32_t)way)))
		hauli_host_confirm(
			flow->host, port, (uint32_t)way, hauli_flow_remote_ip(&flow->link.key));
}

/* On the owner's thread: the packet is none of a flow. */
static __attribute__((noinline)) void deliver_first(
	struct hauli_flows_carrier *c, const struct hauli_arrival *a)
{
	if (hauli_listen_accept(c, a))
		return;
	hauli_counter_add(&c->strangers, 1);
	rte_pktmbuf_free(a->pkt);
}

/* On the owner's thread. link: what the table has with this key; NULL: nothing. */
static void deliver(
	struct hauli_flows_carrier *c, const struct hauli_arrival *a, struct hauli_flow_link *link)
{
	struct haul_flow *flow = flow_of(link);
	int err;

	if (hauli_unlikely(!link)) {
		deliver_first(c, a);
		return;
	}
	if (hauli_unlikely(!a->pkt)) {
		deliver_error(c, flow, a);
		return;
	}
	if (hauli_unlikely(flow->is_young))
		hauli_listen_grown(flow);
	/* That others go on sending does not say that they get what is sent (RFC 4861, 7.3.1). */
	if (!flow->accepted)
		confirm_way(flow);
	if (flow->opts.idle_ns)
		hauli_u64_shared_set(&flow->active, haul_now());
	err = hauli_mail_put(c, flow, a->pkt);
	if (hauli_likely(!err)) {
		hauli_counter_add(&c->received, 1);
	} else {
		hauli_counter_add(err == -EPIPE ? &c->strangers : &c->full, 1);
		rte_pktmbuf_free(a->pkt);
	}
}

/* On the thread of c, which is not the owner. */
static void hand_over(struct hauli_flows_carrier *c, struct hauli_flows_carrier *owner,
	const struct hauli_arrival *a)
{
	if (haul_chan_send(owner->in, a, 0) == 0) {
		hauli_counter_add(&c->handed_over, 1);
	} else {
		hauli_counter_add(&c->lost, 1);
		rte_pktmbuf_free(a->pkt);
	}
}

/* For a packet to a port that has `users` flows, or a listener. c: of the running carrier. */
static void pass(struct hauli_flows *flows, struct hauli_flows_carrier *c, const struct haul_rx *rx,
	const struct hauli_arrival *a, unsigned users)
{
	struct hauli_flows_carrier *owner =
		&flows->carriers[hauli_flow_local_port(&a->key) % flows->nb_carriers];
	struct hauli_flow_link *link = NULL;

	if (c == owner || users == HAULI_FLOWS_LISTENED)
		link = hauli_flow_table_find(&c->table, &a->key);
	if (users == HAULI_FLOWS_LISTENED)
		owner = link ? c : hauli_listen_owner(flows, rx, &a->key);
	if (hauli_likely(c == owner))
		deliver(c, a, link);
	else
		hand_over(c, owner, a);
}

bool hauli_flow_takes(struct haul_host *host, struct haul_rx *rx, const struct haul_pkt *pkt)
{
	struct hauli_flows *flows = host->flows;
	unsigned users = hauli_u8_owned_get(&flows->users[hauli_arrival_port(pkt)]);
	struct rte_mbuf *mbuf = pkt->mbuf;
	struct hauli_arrival a;

	if (users == 0)
		return false;
	hauli_arrival_take(&a, pkt);
	pass(flows, &flows->carriers[haul_carrier_id(haul_carrier_self())], rx, &a, users);
	if (!a.pkt)
		haul_drop(rx, &mbuf, 1, HAUL_DROP_CONSUMED);
	return true;
}

/* When a flow is idle for long enough, which it may be already; HAUL_FOREVER: it never is. */
static uint64_t ends_at(const struct haul_flow *flow)
{
	uint64_t active = hauli_u64_shared_get(&flow->active);

	if (flow->opts.idle_ns == 0 || flow->ended || flow->opts.idle_ns > HAUL_FOREVER - active)
		return HAUL_FOREVER;
	return active + flow->opts.idle_ns;
}

/* Ends the idle flows in some slots. *first: when the first of the others will be idle. */
static void end_idle(struct hauli_flows_carrier *c, uint64_t *at, uint64_t now, uint64_t *first)
{
	uint64_t end = *at + SLOTS_AT_ONCE;
	struct hauli_flow_link *link;

	while (*at < end && (link = hauli_flow_table_walk(&c->table, at, end - *at)) != NULL) {
		struct haul_flow *flow = flow_of(link);

		if (ends_at(flow) <= now) {
			flow->ended = true;
			haul_chan_close(flow->mailbox);
			hauli_counter_add(&c->idle, 1);
		}
		if (ends_at(flow) < *first)
			*first = ends_at(flow);
		if (c->idle_ns > flow->opts.idle_ns && flow->opts.idle_ns)
			c->idle_ns = flow->opts.idle_ns;
	}
}

/* Flows that come and go during the yields may move others, so that these are not seen: they are
 * seen in the next look, an eighth of the shortest time later. */
static void look_for_idle(struct hauli_flows_carrier *c)
{
	uint64_t now = haul_now(), first = HAUL_FOREVER, at = 0, soon = c->idle_ns / IDLE_PARTS;
	uint64_t opened = hauli_counter_read(&c->opened), closed = hauli_counter_read(&c->closed);

	c->idle_at = c->idle_ns = HAUL_FOREVER;
	do {
		end_idle(c, &at, now, &first);
		if (at != 0)
			haul_yield();
	} while (at != 0);
	if (opened != hauli_counter_read(&c->opened) || closed != hauli_counter_read(&c->closed))
		first = now;
	if (first < now + soon)
		first = now + soon;
	if (c->idle_at > first)
		c->idle_at = first;
}

static void end_all(struct hauli_flows_carrier *c)
{
	struct hauli_flow_link *link;
	uint64_t at = 0;

	c->runs = false;
	do {
		while ((link = hauli_flow_table_walk(&c->table, &at, UINT64_MAX)) != NULL)
			haul_chan_close(flow_of(link)->mailbox);
	} while (at != 0);
}

/* The owner's coroutine: what others do not do on its thread. Functions of listeners run in its
 * scope. */
static void *serve(void *arg)
{
	struct hauli_flows_carrier *c = arg;
	struct hauli_arrival a;
	int err;
	HAUL_SCOPE(functions, HAUL_FOREVER, HAUL_SCOPE_ALL);

	do {
		err = haul_chan_recv(c->in, &a, c->idle_at);
		if (err == 0 && (a.pkt || a.error))
			deliver(c, &a, hauli_flow_table_find(&c->table, &a.key));
		hauli_flows_free_closing(c);
		hauli_listen_begin(c, &functions);
		if (c->idle_at != HAUL_FOREVER && haul_now() >= c->idle_at)
			look_for_idle(c);
	} while (err == 0 || err == -ETIMEDOUT);
	end_all(c);
	hauli_listen_refuse(c);
	haul_scope_cancel(&functions);
	return NULL;
}

static int init_carrier(struct haul_host *host, unsigned i)
{
	struct hauli_flows *flows = host->flows;
	struct hauli_flows_carrier *c = &flows->carriers[i];
	int err = hauli_flow_table_init(&c->table, i < flows->nb_carriers ? FLOWS_AT_FIRST : 0);

	c->host = host;
	c->carrier = haul_carrier(flows->rt, i);
	hauli_handover_init(&c->closing, c->carrier);
	c->idle_at = c->idle_ns = HAUL_FOREVER;
	hauli_mail_init(c, flows->io, flows->nb_carriers);
	if (!err && i < flows->nb_carriers)
		err = haul_chan_create(
			&c->in, sizeof(struct hauli_arrival), HAULI_FLOWS_HANDED_MAX);
	return err;
}

static int init_ports(struct hauli_flows *flows)
{
	int err = 0;

	flows->steers = calloc(flows->nb_ports, sizeof(flows->steers[0]));
	if (!flows->steers)
		return -ENOMEM;
	for (unsigned p = 0; !err && p < flows->nb_ports; p++)
		err = hauli_steer_init(&flows->steers[p], flows->io, p);
	return err;
}

static void drop_handed_over(struct hauli_flows_carrier *c)
{
	struct hauli_arrival a;

	while (c->in && haul_chan_recv(c->in, &a, 0) == 0)
		rte_pktmbuf_free(a.pkt);
	haul_chan_destroy(c->in);
}

void hauli_flows_free(struct haul_host *host)
{
	struct hauli_flows *flows = host->flows;

	if (!flows)
		return;
	for (unsigned i = 0; i < flows->nb_all && flows->carriers[i].table.slots; i++) {
		drop_handed_over(&flows->carriers[i]);
		hauli_flows_free_all(&flows->carriers[i]);
		hauli_handover_fini(&flows->carriers[i].closing);
		hauli_flow_table_fini(&flows->carriers[i].table);
	}
	hauli_listeners_free(flows);
	for (unsigned p = 0; flows->steers && p < flows->nb_ports; p++)
		hauli_steer_fini(&flows->steers[p]);
	free(flows->steers);
	free(flows);
	host->flows = NULL;
}

static struct hauli_flows *make_flows(struct haul_io *io)
{
	unsigned n = haul_carriers(io->rt);
	size_t size = sizeof(struct hauli_flows) + n * sizeof(struct hauli_flows_carrier);
	struct hauli_flows *flows = aligned_alloc(HAULI_CACHE_LINE,
		(size + HAULI_CACHE_LINE - 1) / HAULI_CACHE_LINE * HAULI_CACHE_LINE);

	if (!flows)
		return NULL;
	memset(flows, 0, size);
	flows->io = io;
	flows->rt = io->rt;
	flows->nb_all = n;
	flows->nb_carriers = io->nb_pollers;
	flows->nb_ports = io->opts.nb_ports;
	return flows;
}

/* Spawns the owners' coroutines. The caller stops those that run after an error. */
static int spawn_all(struct hauli_flows *flows)
{
	const struct haul_coro_opts opts = {.name = "flows", .pinned = true};
	int err = 0;

	for (unsigned i = 0; !err && i < flows->nb_carriers; i++) {
		flows->carriers[i].runs = true;
		err = haul_spawn_on(flows->carriers[i].carrier, &flows->carriers[i].coroutine,
			serve, &flows->carriers[i], &opts);
	}
	return err;
}

int hauli_flows_start(struct haul_host *host, struct haul_io *io)
{
	struct hauli_flows *flows;
	int err = 0;

	hauli_flows_free(host); /* of an earlier start */
	host->flows = flows = make_flows(io);
	if (!flows)
		return -ENOMEM;
	for (unsigned i = 0; !err && i < flows->nb_all; i++)
		err = init_carrier(host, i);
	if (!err)
		err = init_ports(flows);
	if (!err)
		err = spawn_all(flows);
	if (err) {
		hauli_flows_stop(host);
		hauli_flows_free(host);
	}
	return err;
}

void hauli_flows_stop(struct haul_host *host)
{
	struct hauli_flows *flows = host->flows;

	if (!flows)
		return;
	hauli_u32_published_set(&flows->stopped, 1);
	for (unsigned i = 0; i < flows->nb_carriers; i++)
		if (flows->carriers[i].in)
			haul_chan_close(flows->carriers[i].in);
	/* After that, as functions of a listener may wait for flows of other carriers. */
	for (unsigned i = 0; i < flows->nb_carriers; i++) {
		struct hauli_flows_carrier *c = &flows->carriers[i];

		if (c->coroutine)
			haul_join(c->coroutine, NULL, HAUL_FOREVER);
		c->coroutine = NULL;
	}
}

static int free_closing_here(void *arg)
{
	struct hauli_flows *flows = arg;
	struct haul_carrier *here = haul_carrier_self();

	hauli_flows_free_closing(&flows->carriers[haul_carrier_id(here)]);
	return 0;
}

void hauli_flows_free_closed(struct haul_host *host)
{
	if (host->flows)
		(void)haul_on_each(host->flows->rt, free_closing_here, host->flows);
}

int haul_flow_reserve(struct haul_host *host, uint16_t udp_port)
{
	struct hauli_flows *flows;

	HAUL_MISUSE_IF(!host, "the host is NULL; give what haul_host_create() has given");
	flows = host->flows;
	if (!flows)
		return -ECANCELED;
	hauli_port_set_add(&flows->reserved, udp_port);
	return hauli_u8_owned_get(&flows->users[udp_port]) ? -EBUSY : 0;
}

static void add_stats(struct haul_flow_stats *st, const struct hauli_flows_carrier *c)
{
	uint64_t closed = hauli_counter_read(&c->closed), opened = hauli_counter_read(&c->opened);

	st->open += opened - closed;
	st->opened += opened;
	st->received += hauli_counter_read(&c->received);
	st->errors += hauli_counter_read(&c->errors);
	st->handed_over += hauli_counter_read(&c->handed_over);
	st->idle += hauli_counter_read(&c->idle);
	st->full += hauli_counter_read(&c->full);
	st->strangers += hauli_counter_read(&c->strangers);
	st->lost += hauli_counter_read(&c->lost);
	st->accepted += hauli_counter_read(&c->accepted);
	st->refused += hauli_counter_read(&c->refused);
	st->evicted += hauli_counter_read(&c->evicted);
}

void haul_flow_get_stats(const struct haul_host *host, unsigned carrier, struct haul_flow_stats *st)
{
	const struct hauli_flows *flows;

	HAUL_MISUSE_IF(!host || !st, "the host or the place for its counters is NULL");
	*st = (struct haul_flow_stats){0};
	flows = host->flows;
	for (unsigned i = 0; flows && i < flows->nb_all; i++)
		if (carrier == HAUL_ALL || carrier == i)
			add_stats(st, &flows->carriers[i]);
}
