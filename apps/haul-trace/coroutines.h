/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is known about each coroutine, by its address, while a trace is converted. Coroutines that
 * follow each other may have the same address: each is a life of it, and its name is not known
 * before it runs. So the lives are noted beforehand, in the order of time, and gone through again.
 */
#ifndef TRACE_COROUTINES_H
#define TRACE_COROUTINES_H

#include <stdbool.h>
#include <stdint.h>

struct trace_coroutine {
	uint64_t address; /* 0: a free place */
	uint64_t flow; /* of the last wake-up, until it runs; 0: none */
	uint64_t track; /* 0: it has none yet under its name */
	const char *name; /* of the last life that has begun; NULL: none has */
	const char *track_name;
	uint32_t depth; /* spans that are open on its track */
	bool waits; /* a wait is open there */
	uint8_t end; /* enum haul_trace_end of its last wake-up; 0: not known */
	bool lives; /* a life has begun and not ended */
	uint32_t first, last; /* of its lives: places plus 1; 0: none */
	uint32_t life, lived; /* the present one, and how often it has begun */
	uint32_t tracks; /* the place of the first that it has had, plus 1; 0: none */
};

/* Of a coroutine under one name. */
struct trace_track {
	const char *name;
	uint64_t number; /* 0: the track is new */
	uint32_t next; /* the place of the next of this coroutine, plus 1; 0: none */
};

/* Lives of one name in a row. */
struct trace_life {
	const char *name;
	uint32_t times;
	uint32_t next; /* the place of the next of this coroutine, plus 1; 0: none */
};

struct trace_coroutines {
	struct trace_coroutine *places;
	uint64_t n, size; /* size: a power of two */
	struct trace_life *all_lives;
	uint32_t nb_lives, lives_size;
	struct trace_track *all_tracks;
	uint32_t nb_tracks, tracks_size;
};

/* The coroutine, new if it was not there; NULL: no memory. It stays there until the next call. */
struct trace_coroutine *trace_coroutine(struct trace_coroutines *all, uint64_t address);
void trace_coroutines_free(struct trace_coroutines *all);

/* The track of co under this name. NULL: no memory. It stays there until the next call. */
struct trace_track *trace_track(
	struct trace_coroutines *all, struct trace_coroutine *co, const char *name);

/* Beforehand: co runs under this name; and: it ends. False: no memory. */
bool trace_life_noted(struct trace_coroutines *all, struct trace_coroutine *co, const char *name);
void trace_life_noted_end(struct trace_coroutine *co);
/* Between: nothing has run yet. */
void trace_lives_begin(struct trace_coroutines *all);
/* co runs under this name. True: a life begins, and another name with it. */
bool trace_life_runs(struct trace_coroutines *all, struct trace_coroutine *co, const char *name);
void trace_life_ends(struct trace_coroutine *co);

/* The name of the one that lives, or else of the one that runs next; NULL: not known. */
const char *trace_name(const struct trace_coroutines *all, const struct trace_coroutine *co);

#endif
