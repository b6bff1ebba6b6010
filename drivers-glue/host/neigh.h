/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The neighbours of a port: their link-layer addresses, found by ARP or neighbour discovery, in the
 * states of RFC 4861, 7.3. The table knows no packets: it says what to ask, and is told what was
 * heard. neigh_table.c has its argument.
 */
#ifndef HAULI_HOST_NEIGH_H
#define HAULI_HOST_NEIGH_H

#include "host/neigh_table.h"

/*
 * A packet is to go to ip. Returns 0 and the address; -EAGAIN (it is being asked for),
 * -EHOSTUNREACH, -ENOBUFS, -ECANCELED (closed). With *entry, the caller waits after -EAGAIN: it
 * calls hauli_neigh_look(), which resets the event if it returns -EAGAIN, then waits for
 * hauli_neigh_event(), looks again, and so on until a look returns something else, or until it
 * waits no more; then it calls hauli_neigh_leave().
 */
int hauli_neigh_use(
	struct hauli_neigh *t, struct hauli_ip ip, uint64_t now, uint8_t mac[6], uint32_t *entry);
struct haul_event *hauli_neigh_event(struct hauli_neigh *t, uint32_t entry);
int hauli_neigh_look(struct hauli_neigh *t, uint32_t entry, uint8_t mac[6]);
void hauli_neigh_leave(struct hauli_neigh *t, uint32_t entry);

/*
 * hauli_neigh_answer: an advertisement says that ip has an address (NULL: it does not say which).
 *     solicited: it is an answer to a question, or says so; that counts only while one is asked.
 *     overrides: it says that a known address is wrong. Creates nothing.
 * hauli_neigh_asks: the neighbour itself has asked a question, and said its address.
 * hauli_neigh_confirm: the neighbour is there, as protocols above know. Changes nothing, and takes
 *     no lock, while it is REACHABLE: what ends that leads to no question if it is confirmed again.
 * hauli_neigh_confirm_at: the same, if ip still has this slot.
 */
void hauli_neigh_answer(struct hauli_neigh *t, struct hauli_ip ip, const uint8_t *mac,
	bool solicited, bool overrides, uint64_t now);
void hauli_neigh_asks(
	struct hauli_neigh *t, struct hauli_ip ip, const uint8_t mac[6], uint64_t now);
void hauli_neigh_confirm(struct hauli_neigh *t, struct hauli_ip ip, uint64_t now);
void hauli_neigh_confirm_at(struct hauli_neigh *t, uint32_t slot, struct hauli_ip ip, uint64_t now);

/* A question to send: to an address, or to all (ARP) or the solicited-node group (ND). */
struct hauli_question {
	struct hauli_ip ip;
	uint8_t mac[6];
	bool to_all;
};
/* Lets neighbours age, until there is a question to send (true), or nothing else to do now
 * (false). */
bool hauli_neigh_age(struct hauli_neigh *t, uint64_t now, struct hauli_question *q);
/* When something is due next, HAUL_FOREVER: nothing is. The caller calls hauli_neigh_age() then,
 * unless on_earlier() is called before. */
uint64_t hauli_neigh_due(struct hauli_neigh *t);

enum haul_neighbour_state hauli_neigh_state(
	struct hauli_neigh *t, struct hauli_ip ip, uint8_t mac[6]);

/* Adds the table's counters to *st. */
void hauli_neigh_add_stats(struct hauli_neigh *t, struct haul_host_stats *st);

#endif
