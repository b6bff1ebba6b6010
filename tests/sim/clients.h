/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clients of a program under test, at a switch "s", each a host with a link of its own: they ask
 * 10.0.0.1 again and again, first with faults, then without. Once these have stopped, each question
 * has to be answered.
 */
#ifndef HAUL_TESTS_SIM_CLIENTS_H
#define HAUL_TESTS_SIM_CLIENTS_H

#include <haul-sim/node.h>
#include <haul/haul.h>
#include <haul/net.h>

struct client {
	unsigned number;
	struct haul_sim_node *node;
	struct haul_event came; /* takes() sets it */
	unsigned id; /* of the question, from 1 */
	unsigned answered, failed, late;
	bool ends;
};

struct clients {
	unsigned n;
	const char *link; /* keys of links besides their delay */
	/* In a coroutine, with a new id: asks, as often as it likes. True: there was an answer. */
	bool (*ask)(struct client *c);
	/* A UDP packet for the client. */
	void (*takes)(struct client *c, const struct haul_pkt *pkt);
};

/* Without faults: starts them. */
void clients_start(const struct clients *kind);
/* Faults, then none: simulated seconds, of calm more than 60. Ends the clients, and returns the
 * number of answers. */
unsigned clients_run(unsigned trouble, unsigned calm);
/* Sends payload, and waits for c->came for up to two seconds; so often. */
bool client_asks_udp(struct client *c, const char *to, uint16_t udp_port, const void *payload,
	size_t len, unsigned tries);
/* SIGTERM to a host, which has to end with 0; and no packet on a link is forgotten. */
void program_ends(const char *name);

#endif
