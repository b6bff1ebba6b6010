/* SPDX-License-Identifier: BSD-3-Clause */
/* The programs of haul that run on this machine, by the sockets of their telemetry. */
#ifndef TOP_FIND_H
#define TOP_FIND_H

#include "client.h"

#define TOP_FIND_MAX 256 /* sockets */

struct top_program {
	char path[108]; /* of its socket */
	char name[32], prefix[32]; /* "haul-fwd"; the socket's directory: "haul-4711" */
	int64_t pid;
	uint64_t uptime_ns; /* 0: not known */
	char why[256]; /* "": it answers */
};

/* A search: all sockets are asked at the same time. */
struct top_find {
	struct top_client *clients;
	unsigned n;
	struct top_program programs[TOP_FIND_MAX];
	unsigned nb; /* those found, by pid */
};

void top_find_begin(struct top_find *f, uint64_t patience);
/* True: all have answered, or will not; f->programs is complete, and can be used until the end. */
bool top_find_step(struct top_find *f);
/* What to wait for before the next step: *n of fds[TOP_FIND_MAX], and at most so many ns. */
uint64_t top_find_events(const struct top_find *f, struct pollfd *fds, unsigned *n);
void top_find_end(struct top_find *f);

/* Which programs are meant. */
struct top_choice {
	uint64_t pid; /* 0: any */
	const char *name; /* of the program, or its --file-prefix; NULL: any */
	const char *path; /* of the socket; NULL: any. No other is looked at then. */
};
bool top_choice_has(const struct top_choice *choice, const struct top_program *p);

/* The only program meant, or NULL, with a line in why. */
const struct top_program *top_find_choose(
	const struct top_find *f, const struct top_choice *choice, char *why, size_t len);

#endif
