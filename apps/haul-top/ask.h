/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sample: the answers of a program to all commands that haul-top shows, as a tree of JSON, which
 * is also the form in which it is recorded:
 *
 *	{"at": seconds since 1970, "pid": ..., "answers": {
 *		"/haul/carriers": {"at_ns": of a clock, "values": {"0": {...}, "1": {...}}}, ...}}
 *
 * A command that the program does not know is not there. An answer that came in parts is one.
 */
#ifndef TOP_ASK_H
#define TOP_ASK_H

#include "client.h"

/* The commands of which a sample has the answers, ended by NULL. The first is /haul/info. */
extern const char *const top_commands[];

/* The asking for one sample. */
struct top_ask {
	unsigned command, parts;
	int64_t next; /* where the next part begins; 0: a new command */
	json_t *sample;
};

/* The client is TOP_IDLE. */
void top_ask_begin(struct top_ask *a, struct top_client *c);

/* After each step of the client. Returns the sample once it is complete, which the caller owns;
 * else NULL, also if the client has failed. */
json_t *top_ask_step(struct top_ask *a, struct top_client *c);

/* Also amid a sample. */
void top_ask_end(struct top_ask *a);

#endif
