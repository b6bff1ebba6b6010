/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clients of a program under test, at a switch "s", each a host with a link of its own: they ask
 * 10.0.0.1 again and again, first with faults, then without. Once these have stopped, each question
 * has to be answered. At last links lose nothing either: then an answer has to come in time, and
 * without being asked for twice; and clients find each other.
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
	bool ends, meets;
};

struct clients {
	unsigned n;
	const char *link; /* keys of links besides their delay */
	const char *still; /* commands of haul_sim_net() after which no link loses; NULL: none */
	uint64_t at_most; /* ns that an answer takes when nothing is lost */
	/* In a coroutine, with a new id: asks, as often as it likes. True: there was an answer. */
	bool (*ask)(struct client *c);
	/* A UDP packet for the client. */
	void (*takes)(struct client *c, const struct haul_pkt *pkt);
};

/* Without faults: starts them. */
void clients_start(const struct clients *kind);
/* Faults, then none: simulated seconds, of calm more than 60. Ends the program by SIGTERM, and the
 * clients, one of them first; the seed says which. Returns the number of answers. */
unsigned clients_run(unsigned trouble, unsigned calm, const char *program);
/* No faults for so long that nothing is left of them; and nothing is lost. */
bool clients_are_calm(void);
bool clients_are_still(void);
/* Sends payload, and waits for c->came for up to two seconds; so often. */
bool client_asks_udp(struct client *c, const char *to, uint16_t udp_port, const void *payload,
	size_t len, unsigned tries);
/* The node of a host: its name is a letter and a number, its address 10.0.0.last; on_packet() gets
 * arg. */
void numbered_node_start(struct haul_sim_node **node, char letter, unsigned number, unsigned last,
	haul_packet_fn *on_packet, void *arg);
/* SIGTERM to a host, which has to end with 0; and no packet on a link is forgotten. */
void program_ends(const char *name);

#endif
