/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A connection to a program's telemetry, in the protocol of DPDK's: a packet with a command goes
 * there, and one with the answer comes back. No call here waits: the caller waits for the events
 * of the connection, and calls top_client_step().
 */
#ifndef TOP_CLIENT_H
#define TOP_CLIENT_H

#include <jansson.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/un.h>

enum top_client_state {
	TOP_CONNECTS,
	TOP_GREETS, /* the program is to say who it is */
	TOP_IDLE, /* takes a command */
	TOP_ASKED,
	TOP_ANSWERED, /* the answer is there: take it by top_client_take() */
	TOP_FAILED,
};

struct top_client {
	enum top_client_state state;
	int fd; /* -1: none */
	struct sockaddr_un addr;
	uint64_t patience; /* ns for each answer */
	uint64_t until; /* of haul_now()'s clock: when this answer is too late */
	char command[64];
	json_t *about; /* what the program said first; an object */
	json_t *answer;
	/* TOP_FAILED: why, as one line; and true if nobody listens there: the program has ended. */
	char why[256];
	bool gone;
};

/* Begins to connect. path is at most as long as a socket's path can be, or the client fails. */
void top_client_open(struct top_client *c, const char *path, uint64_t patience);
void top_client_close(struct top_client *c);

/* TOP_IDLE: sends a command, such as "/haul/waits,73". */
void top_client_ask(struct top_client *c, const char *command);

/* TOP_ANSWERED: the values of the answer, which the caller owns. NULL: the program has no such
 * command. */
json_t *top_client_take(struct top_client *c);

/* Goes on as far as it can without waiting. */
void top_client_step(struct top_client *c);

/* What to wait for before the next step: the events, and at most the returned number of ns. */
uint64_t top_client_events(const struct top_client *c, struct pollfd *fd);

#endif
