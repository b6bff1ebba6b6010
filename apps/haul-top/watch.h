/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The watching of a program: finds it, asks it for a sample in each interval, and notices that it
 * has ended. No call here waits for the program.
 *
 *	finds -> asks <-> rests		an error: rests, and then begins anew
 *
 * Between two samples it asks what the user wants to know.
 */
#ifndef TOP_WATCH_H
#define TOP_WATCH_H

#include "ask.h"
#include "find.h"
#include "sample.h"

#define TOP_WATCH_FDS TOP_FIND_MAX

enum top_watch_state {
	TOP_WATCH_FINDS,
	TOP_WATCH_ASKS,
	TOP_WATCH_RESTS,
	TOP_WATCH_INQUIRES, /* a question of the user's */
	TOP_WATCH_ENDED, /* the program with the pid asked for has ended: no other has it */
};

struct top_watch {
	struct top_choice choice;
	uint64_t patience, interval; /* ns */
	enum top_watch_state state;
	struct top_find find;
	struct top_client client;
	struct top_ask ask;
	char path[108]; /* of the program's socket; "": it is not found yet */
	char name[64]; /* "haul-fwd 4711" */
	struct top_pair pair;
	bool answered; /* on this connection, a sample at least */
	uint64_t next; /* TOP_WATCH_RESTS: when to go on */
	char question[64]; /* "": none */
	json_t *reply; /* to the last question, or NULL */
	char why[512]; /* why there are no new figures, as one line; "": there are */
};

/* The texts of the choice must stay valid. */
void top_watch_begin(
	struct top_watch *w, const struct top_choice *choice, uint64_t patience, uint64_t interval);
void top_watch_end(struct top_watch *w);

/* Goes on as far as it can without waiting. True: there is a new sample, w->pair.now. */
bool top_watch_step(struct top_watch *w);

/* Asks a command of telemetry as soon as the program can be asked; it takes the place of a question
 * that has no reply yet. */
void top_watch_ask(struct top_watch *w, const char *command);
/* The reply, which the caller owns: values, or {"error": why}. NULL: there is none yet. */
json_t *top_watch_reply(struct top_watch *w);

/* What to wait for before the next step: *n of fds[TOP_WATCH_FDS], and at most so many ns. */
uint64_t top_watch_events(const struct top_watch *w, struct pollfd *fds, unsigned *n);

/* Waits for that; also ended by a signal. */
void top_wait(struct pollfd *fds, unsigned n, uint64_t ns);

#endif
