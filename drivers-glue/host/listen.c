/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Promise: packets from one address and port to a listener's port come to one flow; its function
 * runs once, and has returned when haul_host_stop() returns; and a listener has no more than
 * flows_max flows on a carrier, whoever sends to it.
 *
 * One flow: its owner depends on its key alone. It is the carrier to which the NIC's RSS, or haul's
 * spreading, brings its packets, where these are known; where they are not, one by a hash. So a
 * packet may come to another carrier at any time: by a queue that the kernel has chosen anew, as
 * fragments, in the hands of a thief. That one finds nothing in its own table, and passes the
 * packet on. Only the owner adds flows, on its thread, and does not suspend between the look and
 * that.
 *
 * users[port] is HAULI_FLOWS_LISTENED from then on. It is written as for flows: by the owner of the
 * port, on its thread, so either a flow of haul_flow_open() has the port, or the listener. The
 * listener is published after that, and not freed before all handlers have ended: one that does not
 * get its port is never seen by a carrier. Packets that come between the two steps are dropped.
 *
 * The function: runs in a child of the scope of the owner's coroutine, which lets it begin, and
 * does not end before it has ended. The first packet waits in the mailbox.
 *
 * Floods: a flow of which one packet has come is young. When few places are left, the one that has
 * been young for the longest ends, as if it were idle: those who converse keep their flows while
 * somebody sends single packets from ever new addresses. Its place is free when its function has
 * closed it; a packet for which there is none is dropped.
 */
#include "host/listen.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>

#include <haul/carrier.h>

#include "base/assert.h"
#include "host/flow.h"
#include "host/mailbox.h"
#include "io/state.h"
#include "net/flow.h"

#define FLOWS_MAX 4096
#define IDLE_NS (60 * HAUL_S)
#define SPARE_PARTS 8 /* one part of the places is kept free, if functions return in time */

/* Of one carrier, whose thread alone uses it. */
struct listening {
	HAULI_LINE unsigned nb_flows;
	struct haul_flow *oldest, *youngest; /* young ones */
};

struct hauli_listener {
	/* Constant. */
	uint16_t port;
	haul_flow_fn *fn;
	void *arg;
	struct haul_listen_opts opts; /* with the defaults */
	struct haul_coro_opts coro; /* in the place of opts.coro */

	struct listening carriers[]; /* with a poller */
};

static struct hauli_listener *find(struct hauli_flows *flows, uint16_t port)
{
	for (unsigned i = 0; i < HAULI_LISTENERS_MAX; i++) {
		struct hauli_listener *l = hauli_ptr_published_get(&flows->listeners[i]);

		if (l && l->port == port)
			return l;
	}
	return NULL;
}

/* The carrier itself may be gone. */
static struct listening *on(struct hauli_listener *l, const struct hauli_flows_carrier *c)
{
	return &l->carriers[c - c->host->flows->carriers];
}

struct hauli_flows_carrier *hauli_listen_owner(
	struct hauli_flows *flows, const struct haul_rx *rx, const struct hauli_flow_key *key)
{
	unsigned n = flows->nb_carriers, i = 0;

	if (n > 1)
		i = hauli_steer_carrier(&flows->steers[rx->port], key);
	if (i >= n)
		i = (unsigned)((uint64_t)hauli_net_flow(hauli_flow_is_ip6(key),
				       hauli_flow_protocol(key), hauli_flow_local(key),
				       hauli_flow_local_port(key), hauli_flow_remote(key),
				       hauli_flow_remote_port(key)) *
				n >>
			32);
	return &flows->carriers[i];
}

/* The young ones. */

static void add_young(struct listening *at, struct haul_flow *flow)
{
	flow->is_young = true;
	flow->older = at->youngest;
	flow->younger = NULL;
	*(at->youngest ? &at->youngest->younger : &at->oldest) = flow;
	at->youngest = flow;
}

static void remove_young(struct listening *at, struct haul_flow *flow)
{
	flow->is_young = false;
	*(flow->older ? &flow->older->younger : &at->oldest) = flow->younger;
	*(flow->younger ? &flow->younger->older : &at->youngest) = flow->older;
}

void hauli_listen_grown(struct haul_flow *flow)
{
	remove_young(on(flow->accepted, flow->owner), flow);
}

static void evict(struct hauli_flows_carrier *c, struct listening *at)
{
	struct haul_flow *flow = at->oldest;

	remove_young(at, flow);
	if (flow->ended)
		return;
	flow->ended = true;
	haul_chan_close(flow->mailbox);
	hauli_counter_add(&c->evicted, 1);
}

/* New flows. */

static void leave(struct haul_flow *flow)
{
	struct listening *at = on(flow->accepted, flow->owner);

	if (flow->is_young)
		remove_young(at, flow);
	at->nb_flows--;
}

static bool has_place(
	struct hauli_flows_carrier *c, const struct hauli_listener *l, struct listening *at)
{
	if (at->nb_flows >= l->opts.flows_max - l->opts.flows_max / SPARE_PARTS && at->oldest)
		evict(c, at);
	return at->nb_flows < l->opts.flows_max;
}

/* A flow with its first packet, in the table. NULL: no memory, or too many packets wait. */
static struct haul_flow *make(struct hauli_flows_carrier *c, const struct hauli_listener *l,
	const struct hauli_arrival *a)
{
	struct haul_flow *flow;

	if (!hauli_mail_has_room(c) || hauli_flow_make(&flow, c, false, &l->opts.flow))
		return NULL;
	flow->link.key = a->key;
	if (hauli_flow_add(flow)) {
		hauli_flow_free(flow);
		return NULL;
	}
	(void)hauli_mail_put(c, flow, a->pkt); /* there is room */
	return flow;
}

static void add_beginning(struct hauli_flows_carrier *c, struct haul_flow *flow)
{
	*(c->beginning ? &c->beginning_last->next_beginning : &c->beginning) = flow;
	c->beginning_last = flow;
}

/* True if packets may be sent to it: it is not a group, nor of the host. */
static bool is_other_host(const struct haul_host *host, const struct hauli_flow_key *key)
{
	enum hauli_route_kind kind =
		hauli_routes_find(hauli_host_routes(host), hauli_flow_remote_ip(key))->kind;

	return kind != HAULI_ROUTE_GROUP && kind != HAULI_ROUTE_OWN;
}

bool hauli_listen_accept(struct hauli_flows_carrier *c, const struct hauli_arrival *a)
{
	struct hauli_listener *l;
	struct haul_flow *flow;
	struct listening *at;

	if (!a->pkt || hauli_flow_protocol(&a->key) != IPPROTO_UDP || !c->runs ||
		hauli_flow_remote_port(&a->key) == 0)
		return false;
	l = find(c->host->flows, hauli_flow_local_port(&a->key));
	if (!l || !is_other_host(c->host, &a->key))
		return false;
	at = on(l, c);
	flow = has_place(c, l, at) ? make(c, l, a) : NULL;
	if (!flow) {
		hauli_counter_add(&c->refused, 1);
		rte_pktmbuf_free(a->pkt);
		return true;
	}
	hauli_counter_add(&c->accepted, 1);
	hauli_counter_add(&c->received, 1);
	flow->accepted = l;
	flow->leave = leave;
	at->nb_flows++;
	add_young(at, flow);
	add_beginning(c, flow);
	if (c->beginning == flow)
		hauli_flows_wake(c);
	return true;
}

static struct haul_flow *next_beginning(struct hauli_flows_carrier *c)
{
	struct haul_flow *flow = c->beginning;

	if (flow)
		c->beginning = flow->next_beginning;
	return flow;
}

static int run(void *arg)
{
	struct haul_flow *flow = arg;

	flow->accepted->fn(flow, flow->accepted->arg);
	return 0;
}

static void refuse(struct hauli_flows_carrier *c, struct haul_flow *flow)
{
	hauli_counter_add(&c->refused, 1);
	hauli_flow_remove(c, flow);
}

void hauli_listen_begin(struct hauli_flows_carrier *c, struct haul_scope *scope)
{
	struct haul_flow *flow;

	while ((flow = next_beginning(c)) != NULL)
		if (haul_scope_spawn(scope, run, flow, &flow->accepted->coro))
			refuse(c, flow);
}

void hauli_listen_refuse(struct hauli_flows_carrier *c)
{
	struct haul_flow *flow;

	while ((flow = next_beginning(c)) != NULL)
		refuse(c, flow);
}

/* The listener. */

static int make_listener(struct hauli_listener **out, const struct hauli_flows *flows,
	const struct haul_listen_opts *opts)
{
	size_t size = sizeof(**out) + flows->nb_carriers * sizeof((*out)->carriers[0]);
	struct hauli_listener *l = aligned_alloc(HAULI_CACHE_LINE,
		(size + HAULI_CACHE_LINE - 1) / HAULI_CACHE_LINE * HAULI_CACHE_LINE);

	if (!l)
		return -ENOMEM;
	memset(l, 0, size);
	l->opts = *opts;
	if (l->opts.flows_max == 0)
		l->opts.flows_max = FLOWS_MAX;
	if (l->opts.flow.idle_ns == 0)
		l->opts.flow.idle_ns = IDLE_NS;
	if (l->opts.coro)
		l->coro = *l->opts.coro;
	if (!l->coro.name)
		l->coro.name = "flow";
	*out = l;
	return 0;
}

/* Takes a place among the listeners, so that one that has its port can be published. */
static int take_place(struct haul_host *host)
{
	int err = 0;

	pthread_mutex_lock(&host->lock);
	if (host->flows->nb_listeners == HAULI_LISTENERS_MAX)
		err = -ENOSPC;
	else
		host->flows->nb_listeners++;
	pthread_mutex_unlock(&host->lock);
	return err;
}

static void give_place_back(struct haul_host *host)
{
	pthread_mutex_lock(&host->lock);
	host->flows->nb_listeners--;
	pthread_mutex_unlock(&host->lock);
}

static void publish(struct haul_host *host, struct hauli_listener *l)
{
	struct hauli_ptr_published *at = host->flows->listeners;

	pthread_mutex_lock(&host->lock);
	while (hauli_ptr_published_get(at))
		at++; /* there is a place */
	hauli_ptr_published_set(at, l);
	pthread_mutex_unlock(&host->lock);
}

struct claim {
	struct hauli_flows *flows;
	uint16_t port;
	bool is_done;
};

/* On the owner of the port: gives it to the listener, unless flows have it. */
static int claim_port(void *arg)
{
	struct claim *claim = arg;
	struct hauli_flows *flows = claim->flows;
	struct hauli_u8_owned *users = &flows->users[claim->port];

	if (haul_carrier_id(haul_carrier_self()) != claim->port % flows->nb_carriers)
		return 0;
	if (hauli_u8_owned_get(users))
		return -EADDRINUSE;
	hauli_port_set_add(&flows->reserved, claim->port);
	hauli_u8_owned_set(users, HAULI_FLOWS_LISTENED);
	claim->is_done = true;
	return 0;
}

static bool are_good(const struct haul_listen_opts *opts)
{
	return opts->flows_max <= HAUL_LISTEN_FLOWS_MAX &&
		opts->flow.mailbox <= HAUL_FLOW_MAILBOX_MAX;
}

static int listen_with(struct haul_host *host, struct hauli_listener *l)
{
	struct claim claim = {.flows = host->flows, .port = l->port};
	int err = take_place(host);

	if (err)
		return err;
	/* An error may come after the carrier that counts. */
	err = haul_on_each(host->flows->rt, claim_port, &claim);
	if (!claim.is_done) {
		give_place_back(host);
		return err;
	}
	publish(host, l);
	return 0;
}

int haul_flow_listen(struct haul_host *host, uint16_t udp_port, haul_flow_fn *fn, void *arg,
	const struct haul_listen_opts *opts)
{
	static const struct haul_listen_opts defaults;
	struct hauli_listener *l;
	int err;

	HAUL_MISUSE_IF(!host, "the host is NULL; give what haul_host_create() has given");
	HAUL_MISUSE_IF(!fn, "the function of the flows is NULL");
	if (!opts)
		opts = &defaults;
	if (udp_port == 0 || !are_good(opts))
		return -EINVAL;
	if (!host->flows || hauli_u32_published_get(&host->flows->stopped))
		return -ECANCELED;
	err = make_listener(&l, host->flows, opts);
	if (err)
		return err;
	l->port = udp_port;
	l->fn = fn;
	l->arg = arg;
	err = listen_with(host, l);
	if (err)
		free(l);
	return err;
}

void hauli_listeners_free(struct hauli_flows *flows)
{
	for (unsigned i = 0; i < HAULI_LISTENERS_MAX; i++)
		free(hauli_ptr_published_get(&flows->listeners[i]));
}
