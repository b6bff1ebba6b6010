/* SPDX-License-Identifier: BSD-3-Clause */
/* Flows that others begin: local ports with a listener. listen.c has the argument. */
#ifndef HAULI_HOST_LISTEN_H
#define HAULI_HOST_LISTEN_H

#include <haul/scope.h>

#include "host/flow_state.h"

/* Whose flows they are that come to a listener's port over rx. The caller's own table has none with
 * this key. */
struct hauli_flows_carrier *hauli_listen_owner(
	struct hauli_flows *flows, const struct haul_rx *rx, const struct hauli_flow_key *key);

/* On the owner's thread, for a packet that belongs to no flow: begins one, or drops the packet, and
 * counts that. False: the port has no listener. */
bool hauli_listen_accept(struct hauli_flows_carrier *c, const struct hauli_arrival *a);

/* On the owner's thread: a second packet has come. */
void hauli_listen_grown(struct haul_flow *flow);

/* The owner's coroutine: begins the functions of new flows, in its scope; or closes these flows. */
void hauli_listen_begin(struct hauli_flows_carrier *c, struct haul_scope *scope);
void hauli_listen_refuse(struct hauli_flows_carrier *c);

void hauli_listeners_free(struct hauli_flows *flows);

#endif
