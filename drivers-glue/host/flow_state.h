/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The flows of a host. Each carrier with a poller owns a table, the local ports p with p % n == its
 * number, and the flows that have them: only code that runs on its thread, and does not suspend
 * meanwhile, uses these. flow.c has the argument.
 */
#ifndef HAULI_HOST_FLOW_STATE_H
#define HAULI_HOST_FLOW_STATE_H

#include <haul-dpdk/flow.h>

#include "base/cacheline.h"
#include "base/counter.h"
#include "conc/word.h"
#include "host/arrival.h"
#include "host/local_port.h"
#include "host/state.h"
#include "host/steer.h"
#include "host/table.h"
#include "host/way.h"
#include "sched/glue.h"

/* Packets on their way from one carrier to another; more are dropped. */
#define HAULI_FLOWS_HANDED_MAX 1024

/* Flows with one local port, to different ends. Another number says that there is a listener, and
 * must fit a byte. */
#define HAULI_FLOWS_OF_PORT_MAX 254
#define HAULI_FLOWS_LISTENED 255

#define HAULI_LISTENERS_MAX 64

struct hauli_listener;

#define HAULI_FLOW_MAILBOX 16 /* packets, by default */

/* Closed flows that a carrier keeps: about 400 bytes each. */
#define HAULI_FLOWS_SPARE_MAX 256

/* Packets in mailboxes: mailbox.c. */
struct hauli_mail {
	unsigned nb; /* not fewer than there are */
	unsigned most; /* constant */
	struct haul_flow *first, *last; /* those that have some, or had when they were looked at */
};

struct hauli_flows_carrier {
	HAULI_LINE struct hauli_flow_table table;
	struct hauli_secret secret;
	uint64_t idle_at; /* when the coroutine looks for idle flows next; HAUL_FOREVER: never */
	uint64_t idle_ns; /* the shortest of its flows; HAUL_FOREVER: none */
	bool runs; /* flows may be opened */
	struct hauli_mail mail;
	/* Flows of listeners whose functions have not begun, oldest first. */
	struct haul_flow *beginning, *beginning_last;
	struct hauli_ways ways;
	/* Closed flows of the host's own, with mailboxes of HAULI_FLOW_MAILBOX: a list. */
	struct haul_flow *spares;
	unsigned nb_spares;

	/* Written by code that runs on the carrier. */
	struct hauli_counter opened, closed, received, errors, handed_over, idle, full, strangers,
		lost, accepted, refused, evicted;

	/* Any thread. */
	HAULI_LINE struct haul_chan *in; /* struct hauli_arrival, handed over */
	struct hauli_handover closing; /* flows that others have closed */

	/* Constant. */
	struct haul_host *host;
	struct haul_carrier *carrier; /* compared only, as it may be gone */
	struct haul_coro *coroutine; /* NULL: none. Start, stop */
};

struct hauli_flows {
	/* Constant. */
	struct haul_io *io;
	struct haul_runtime *rt;
	unsigned nb_carriers; /* with a poller: the owners */
	unsigned nb_all; /* carriers of the runtime */
	unsigned nb_ports;
	struct hauli_steer *steers; /* [nb_ports] */

	struct hauli_port_set reserved; /* any thread */
	/* Flows by their local port. Written by the owner of the port; read by all carriers. */
	struct hauli_u8_owned users[HAULI_LOCAL_PORT_MAX + 1];
	struct hauli_u32_published stopped; /* 1: by hauli_flows_stop() */
	/* struct hauli_listener; NULL: none. Under the host's lock; read by all carriers. */
	struct hauli_ptr_published listeners[HAULI_LISTENERS_MAX];
	/* Of listeners, with those that do not have their port yet. Under the host's lock. */
	unsigned nb_listeners;

	struct hauli_flows_carrier carriers[]; /* [nb_all] */
};

struct haul_flow {
	struct hauli_flow_link link; /* in the table. Constant, as the next */
	struct haul_host *host;
	struct hauli_flows *flows;
	struct hauli_flows_carrier *owner;
	struct haul_chan *mailbox; /* struct rte_mbuf *; NULL: `error` has an error */
	struct haul_flow_opts opts;
	void (*leave)(struct haul_flow *flow); /* what begins one undoes so, when it is removed */
	bool is_hosts_own; /* the program does not have it. Constant */
	bool ended; /* it was idle, or made room for others. Owner */
	struct haul_flow *next_spare; /* owner */

	/* Packets in the mailbox, or more, and its place in hauli_mail if there are some. Owner */
	unsigned noted;
	struct haul_flow *mail_before, *mail_after;

	/* Of a listener's flow. Owner */
	struct hauli_listener *accepted; /* NULL: it was opened. Constant */
	struct haul_flow *next_beginning;
	/* While it has received one packet: others of the listener, that began before and after. */
	bool is_young;
	struct haul_flow *older, *younger;

	struct hauli_node closing; /* the thread that closes it */
	/* haul_now() of the last packet in either direction, if opts.idle_ns. Any carrier */
	struct hauli_u64_shared active;
	/* By which neighbour something was sent to which no reply has come: hauli_flow_way(), or 0.
	 * Any carrier; a hint */
	struct hauli_u64_shared unanswered;

	/* Between the owner, which writes while has_error is 0, and one that receives, which reads
	 * while it is 1. */
	struct hauli_u32_published has_error;
	int error;
	struct haul_addr error_from;
};

static inline struct hauli_ip hauli_flow_remote_ip(const struct hauli_flow_key *key)
{
	return hauli_ip_of(hauli_flow_is_ip6(key) ? 6 : 4, hauli_flow_remote(key));
}

/* A port and the slot of a neighbour; never 0. */
static inline uint64_t hauli_flow_way(unsigned port, uint32_t slot)
{
	return (uint64_t)(port + 1) << 32 | slot;
}

/* True if there may be a flow with this local port. The host is started. */
static inline bool hauli_flows_have(const struct haul_host *host, uint16_t port)
{
	return hauli_u8_owned_get(&host->flows->users[port]) != 0;
}

#endif
