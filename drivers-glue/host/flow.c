/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Promise: a packet that haul_host_takes() takes for a flow is received once, or counted and freed;
 * and a table, and what is in it, is used by one thread only.
 *
 *	what			who
 *	table, secret, users[]	code on the owner's thread that does not suspend
 *	mailbox			the owner puts without waiting; any coroutine receives
 *	error			the owner, or one receiver: by has_error
 *	in			any carrier puts without waiting; the owner's coroutine
 *	closing			any thread; the owner's coroutine
 *
 * The mailbox and `in` are channels, which have their own argument (lib/sync/chan.c); `closing` is
 * a hand-over (lib/sched/mail/handover.c). What is left:
 *
 * One thread uses a table: a flow is opened by a coroutine at home, and closed by code that runs on
 * the owner's thread, or put into `closing`. haul_host_takes() runs on some carrier, which looks at
 * its own table only: for the local ports p with p % n == its number. Other ports are those of
 * other owners, so the packet goes into `in` of that owner. (A port with a listener has flows of
 * all carriers: listen.c.) None of these suspends between its look and what it does with what it
 * found.
 *
 * A flow that others have closed is used until its owner takes it out of `closing`: until then
 * packets come into its mailbox, which nobody receives, and are freed with it. What lies in `in`
 * has a key, no pointer to a flow, and is looked up when it is taken out. After a stop the owner
 * looks there once more, when all carriers know of the stop. Who closes a flow after that, or on a
 * thread, closes and empties the mailbox first, so that no buffer is left in it.
 *
 * users[p], which the owner of p writes, tells other carriers whether there may be a flow: one that
 * reads an old value passes a packet on in vain, or leaves the first packet of a flow to the
 * handler. The second does not happen to replies: they come after a packet that was sent after the
 * write, and an old value is read for nanoseconds.
 *
 * The error is written while has_error is 0, and read while it is 1: each side writes the word when
 * it is done (word.h: published). A NULL in the mailbox tells of it; if there is no room for that,
 * the owner takes the error back, which nobody reads, because no NULL was received.
 *
 * The end: hauli_flows_stop() sets `stopped` and closes `in`; the coroutine of the owner, which may
 * be the last one to use the table, closes all mailboxes before it ends. A flow that is opened
 * after that finds runs == false, which is written on the same thread.
 */
#include "host/flow.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>

#include "base/assert.h"
#include "host/mailbox.h"
#include "host/neighbour.h"
#include "io/state.h"

#define NO_FLOW "the flow is NULL; give what haul_flow_open() has given"

static struct haul_flow *flow_of(struct hauli_flow_link *link)
{
	return (struct haul_flow *)link;
}

static struct haul_flow *flow_of_closing(struct hauli_node *node)
{
	return (struct haul_flow *)((char *)node - offsetof(struct haul_flow, closing));
}

static void empty_mailbox(struct haul_flow *flow)
{
	struct rte_mbuf *pkt;

	while (haul_chan_recv(flow->mailbox, &pkt, 0) == 0)
		rte_pktmbuf_free(pkt); /* NULL is allowed */
}

void hauli_flow_free(struct haul_flow *flow)
{
	empty_mailbox(flow);
	haul_chan_destroy(flow->mailbox);
	free(flow);
}

/* The flow becomes a spare one, or is freed. One that the program has had is freed: there a wrong
 * use of it is found. The mailbox of one that has ended is closed; so may be that of one that was
 * closed at a stop, and who gets that spare hears of the stop. */
static void retire_flow(struct hauli_flows_carrier *c, struct haul_flow *flow)
{
	if (!flow->is_hosts_own || c->nb_spares == HAULI_FLOWS_SPARE_MAX || !c->runs ||
		flow->ended || flow->opts.mailbox != HAULI_FLOW_MAILBOX) {
		hauli_flow_free(flow);
		return;
	}
	empty_mailbox(flow);
	flow->next_spare = c->spares;
	c->spares = flow;
	c->nb_spares++;
}

static struct haul_flow *take_spare(struct hauli_flows_carrier *c)
{
	struct haul_flow *flow = c->spares;
	struct haul_chan *mailbox = flow->mailbox;

	c->spares = flow->next_spare;
	c->nb_spares--;
	*flow = (struct haul_flow){.mailbox = mailbox};
	return flow;
}

void hauli_flow_remove(struct hauli_flows_carrier *c, struct haul_flow *flow)
{
	hauli_flow_table_remove(&c->table, &flow->link);
	hauli_mail_forget(c, flow);
	flow->leave(flow);
	hauli_counter_add(&c->closed, 1);
	retire_flow(c, flow);
}

void hauli_flows_wake(struct hauli_flows_carrier *c)
{
	static const struct hauli_arrival nothing;

	/* If there is no room, the coroutine has something to do, and looks after that. */
	(void)haul_chan_send(c->in, &nothing, 0);
}

void hauli_flows_free_closing(struct hauli_flows_carrier *c)
{
	struct hauli_node *node;

	while ((node = hauli_handover_take(&c->closing)) != NULL)
		hauli_flow_remove(c, flow_of_closing(node));
}

void hauli_flows_free_all(struct hauli_flows_carrier *c)
{
	struct hauli_flow_link *link;
	uint64_t at = 0;

	c->runs = false; /* no more spares */
	hauli_flows_free_closing(c);
	while (c->spares)
		hauli_flow_free(take_spare(c));
	do {
		while ((link = hauli_flow_table_walk(&c->table, &at, UINT64_MAX)) != NULL) {
			hauli_flow_remove(c, flow_of(link));
			hauli_flow_table_back(&at);
		}
	} while (at != 0);
}

/* The owner of flows that the running coroutine opens; NULL, with *err. Suspends a coroutine that
 * was stolen; after that nothing may suspend. */
static struct hauli_flows_carrier *owner_here(struct hauli_flows *flows, int *err)
{
	struct haul_coro *me = haul_self();
	struct haul_carrier *home;
	struct hauli_flows_carrier *c;

	*err = -EPERM;
	if (!me)
		return NULL;
	home = haul_coro_home(me);
	if (haul_carrier_runtime(home) != flows->rt || haul_carrier_id(home) >= flows->nb_carriers)
		return NULL;
	if (home != haul_carrier_self()) {
		haul_pin();
		haul_unpin(); /* it was not pinned, or it would be at home */
	}
	c = &flows->carriers[haul_carrier_id(home)];
	*err = -ECANCELED;
	return c->runs ? c : NULL;
}

/* A flow with a mailbox; NULL: no memory. */
static struct haul_flow *new_flow(unsigned mailbox)
{
	struct haul_flow *flow = calloc(1, sizeof(*flow));

	if (flow && haul_chan_create(&flow->mailbox, sizeof(struct rte_mbuf *), mailbox)) {
		free(flow);
		return NULL;
	}
	return flow;
}

int hauli_flow_make(struct haul_flow **out, struct hauli_flows_carrier *c, bool is_hosts_own,
	const struct haul_flow_opts *opts)
{
	unsigned mailbox = opts && opts->mailbox ? opts->mailbox : HAULI_FLOW_MAILBOX;
	struct haul_flow *flow;

	if (hauli_likely(is_hosts_own && c->spares && mailbox == HAULI_FLOW_MAILBOX))
		flow = take_spare(c);
	else
		flow = new_flow(mailbox);
	if (!flow)
		return -ENOMEM;
	flow->host = c->host;
	flow->flows = c->host->flows;
	flow->owner = c;
	flow->is_hosts_own = is_hosts_own;
	if (opts)
		flow->opts = *opts;
	flow->opts.mailbox = mailbox;
	*out = flow;
	return 0;
}

/* The port and the local address for packets to an address. On the owner's thread. */
static int find_local(
	struct haul_flow *flow, const struct haul_addr *to, unsigned *port, struct haul_addr *local)
{
	const struct hauli_out *way = hauli_way_find_to(&flow->owner->ways, flow->host, to);
	struct haul_addr next_hop;

	if (hauli_unlikely(!way))
		return hauli_host_route(flow->host, to, port, &next_hop, local);
	*port = way->port;
	*local = way->head.src;
	return 0;
}

/* Sets flow's key: of a flow to that address and port. On the owner's thread. */
static int choose_key(
	struct haul_flow *flow, uint8_t protocol, const struct haul_addr *to, uint16_t to_port)
{
	struct hauli_flows *flows = flow->flows;
	struct hauli_flows_carrier *c = flow->owner;
	struct hauli_local_ports from = {.table = &c->table,
		.reserved = &flows->reserved,
		.secret = &c->secret,
		.carrier = (unsigned)(c - flows->carriers),
		.nb_carriers = flows->nb_carriers};
	struct haul_addr local;
	unsigned port;
	int err = find_local(flow, to, &port, &local);

	if (err)
		return err;
	hauli_flow_key_set(
		&flow->link.key, to->version == 6, protocol, local.bytes, 0, to->bytes, to_port);
	err = hauli_local_port_choose(&from, &flows->steers[port], &flow->link.key);
	if (!err &&
		hauli_u8_owned_get(&flows->users[hauli_flow_local_port(&flow->link.key)]) ==
			HAULI_FLOWS_OF_PORT_MAX)
		err = -EADDRINUSE;
	return err;
}

/* The coroutine of the owner looks for idle flows in time. */
static void note_idle(struct hauli_flows_carrier *c, struct haul_flow *flow)
{
	uint64_t at = haul_in(flow->opts.idle_ns);

	hauli_u64_shared_set(&flow->active, haul_now());
	if (c->idle_ns > flow->opts.idle_ns)
		c->idle_ns = flow->opts.idle_ns;
	if (at >= c->idle_at)
		return;
	c->idle_at = at;
	hauli_flows_wake(c);
}

int hauli_flow_add(struct haul_flow *flow)
{
	int err = hauli_flow_table_add(&flow->owner->table, &flow->link);

	if (err)
		return err;
	hauli_counter_add(&flow->owner->opened, 1);
	if (flow->opts.idle_ns)
		note_idle(flow->owner, flow);
	return 0;
}

/* The local port has one user less. */
static void leave_port(struct haul_flow *flow)
{
	struct hauli_u8_owned *users = &flow->flows->users[hauli_flow_local_port(&flow->link.key)];

	hauli_u8_owned_set(users, (uint8_t)(hauli_u8_owned_get(users) - 1));
}

/* It has one more. */
static void enter_port(struct haul_flow *flow)
{
	struct hauli_u8_owned *users = &flow->flows->users[hauli_flow_local_port(&flow->link.key)];

	hauli_u8_owned_set(users, (uint8_t)(hauli_u8_owned_get(users) + 1));
	flow->leave = leave_port;
}

static int open_flow(struct haul_flow **out, struct haul_host *host, bool is_hosts_own,
	uint8_t protocol, const struct haul_addr *to, uint16_t to_port,
	const struct haul_flow_opts *opts)
{
	struct hauli_flows *flows = host->flows;
	struct hauli_flows_carrier *c;
	struct haul_flow *flow;
	int err;

	if (opts && opts->mailbox > HAUL_FLOW_MAILBOX_MAX)
		return -EINVAL;
	if (!flows)
		return -ECANCELED;
	c = owner_here(flows, &err);
	if (!c)
		return err;
	err = hauli_flow_make(&flow, c, is_hosts_own, opts);
	if (err)
		return err;
	err = choose_key(flow, protocol, to, to_port);
	if (!err)
		err = hauli_flow_add(flow);
	if (err) {
		retire_flow(c, flow);
		return err;
	}
	enter_port(flow);
	*out = flow;
	return 0;
}

int hauli_flow_open(struct haul_flow **out, struct haul_host *host, uint8_t protocol,
	const struct haul_addr *to, uint16_t to_port, const struct haul_flow_opts *opts)
{
	return open_flow(out, host, true, protocol, to, to_port, opts);
}

int haul_flow_open(struct haul_flow **flow, struct haul_host *host, const struct haul_addr *to,
	uint16_t udp_port, const struct haul_flow_opts *opts)
{
	HAUL_MISUSE_IF(!flow, "the address for the flow is NULL");
	HAUL_MISUSE_IF(!host, "the host is NULL; give what haul_host_create() has given");
	HAUL_MISUSE_IF(!to, "the address of the other end is NULL");
	if (udp_port == 0)
		return -EINVAL;
	return open_flow(flow, host, false, IPPROTO_UDP, to, udp_port, opts);
}

void haul_flow_close(struct haul_flow *flow)
{
	struct hauli_bulk bulk = {NULL, NULL};
	struct hauli_flows_carrier *c;
	struct haul_carrier *here;

	HAUL_MISUSE_IF(!flow, NO_FLOW);
	c = flow->owner;
	here = haul_carrier_self();
	if (here == c->carrier) {
		hauli_flow_remove(c, flow);
		return;
	}
	/* Its owner may not come to it before haul_host_free(), and the pool may be gone then. */
	if (!here || hauli_u32_published_get(&flow->flows->stopped)) {
		haul_chan_close(flow->mailbox);
		empty_mailbox(flow);
	}
	hauli_bulk_add(&bulk, &flow->closing);
	hauli_handover_put(&c->closing, &bulk);
	hauli_flows_wake(c);
}

/* Too many hops mean to most programs that packets do not arrive. */
static int as_told(int err)
{
	return err == -ETIME ? -EHOSTUNREACH : err;
}

int haul_flow_error(struct haul_flow *flow)
{
	struct haul_addr from;

	HAUL_MISUSE_IF(!flow, NO_FLOW);
	return as_told(hauli_flow_error(flow, &from));
}

int hauli_flow_error(struct haul_flow *flow, struct haul_addr *from)
{
	int err;

	if (!hauli_u32_published_get(&flow->has_error))
		return 0;
	err = flow->error;
	*from = flow->error_from;
	hauli_u32_published_set(&flow->has_error, 0);
	return err;
}

/* What the end of a mailbox means. */
static int why_ended(const struct haul_flow *flow)
{
	return hauli_u32_published_get(&flow->flows->stopped) ? -ECANCELED : -EPIPE;
}

int hauli_flow_recv(struct haul_flow *flow, struct rte_mbuf **pkt, struct haul_addr *error_from,
	uint64_t deadline)
{
	int err = haul_chan_recv(flow->mailbox, pkt, deadline);

	if (hauli_unlikely(err))
		return err == -EPIPE ? why_ended(flow) : err;
	return hauli_likely(*pkt != NULL) ? 0 : hauli_flow_error(flow, error_from);
}

int haul_flow_recv(struct haul_flow *flow, struct rte_mbuf **pkt, uint64_t deadline)
{
	struct haul_addr from;

	HAUL_MISUSE_IF(!flow || !pkt, NO_FLOW);
	return as_told(hauli_flow_recv(flow, pkt, &from, deadline));
}

struct haul_case haul_case_flow_recv(struct haul_flow *flow, struct rte_mbuf **pkt)
{
	HAUL_MISUSE_IF(!flow || !pkt, NO_FLOW);
	return haul_case_recv(flow->mailbox, pkt);
}

struct haul_addr haul_flow_address(const struct haul_flow *flow)
{
	HAUL_MISUSE_IF(!flow, NO_FLOW);
	return haul_addr_from(
		hauli_flow_is_ip6(&flow->link.key) ? 6 : 4, hauli_flow_local(&flow->link.key));
}

uint16_t haul_flow_port(const struct haul_flow *flow)
{
	HAUL_MISUSE_IF(!flow, NO_FLOW);
	return hauli_flow_local_port(&flow->link.key);
}

struct haul_addr haul_flow_peer_address(const struct haul_flow *flow)
{
	HAUL_MISUSE_IF(!flow, NO_FLOW);
	return haul_addr_from(
		hauli_flow_is_ip6(&flow->link.key) ? 6 : 4, hauli_flow_remote(&flow->link.key));
}

uint16_t haul_flow_peer_port(const struct haul_flow *flow)
{
	HAUL_MISUSE_IF(!flow, NO_FLOW);
	return hauli_flow_remote_port(&flow->link.key);
}
