/* SPDX-License-Identifier: BSD-3-Clause */
/* A strike of a fault, with its place: a copy, as what it hit may be gone when it is told. */
#ifndef HAULI_SIM_STRIKE_H
#define HAULI_SIM_STRIKE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/fault.h"

#define HAULI_SIM_PLACE 64
#define HAULI_SIM_PLACE_TEXT (3 * HAULI_SIM_PLACE)

struct hauli_sim_strike {
	enum hauli_sim_fault kind;
	uint64_t number, ns;
	/* As struct hauli_sim_target; empty: none. */
	char from[HAULI_SIM_PLACE], to[HAULI_SIM_PLACE], function[HAULI_SIM_PLACE];
	/* Without `from`: the thread that ran. 0: none, an invariant. */
	unsigned thread;
	char thread_name[16], host[HAULI_SIM_PLACE];
};

/* Now, on the thread that it hits. */
void hauli_sim_strike_note(struct hauli_sim_strike *s, enum hauli_sim_fault kind, uint64_t number,
	const struct hauli_sim_target *target);

/* "a > b", "server", "read, thread 7 haul-1 of server". */
void hauli_sim_strike_text(const struct hauli_sim_strike *s, char *buf, size_t len);

/* An object of JSON: "fault", "number", "ns"; then "from" and "to" of a link, "node", "host";
 * "thread", "thread_name" and its "host"; "call", or "sometimes". */
void hauli_sim_strike_json(const struct hauli_sim_strike *s, FILE *out);

/* A string of JSON, with its quotes. */
void hauli_sim_json_text(const char *text, FILE *out);

#endif
