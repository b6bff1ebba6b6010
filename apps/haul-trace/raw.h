/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a raw trace file (haul/trace_file.h). */
#ifndef TRACE_RAW_H
#define TRACE_RAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <haul/trace_file.h>

#define TRACE_SLOTS 256

struct trace_ring {
	struct haul_trace_ring head;
	const uint64_t (*words)[2]; /* of the events that are whole */
	uint64_t n;
	uint64_t lost; /* events that were overwritten before the file was written */
};

struct trace_raw {
	struct haul_trace_file head;
	struct trace_ring *rings;
	unsigned nb;
	bool is_cut; /* the end of the file is missing; the rings have what is there */
	void *memory;
};

struct trace_event {
	enum haul_trace_kind kind;
	unsigned sub, extra;
	uint64_t ns; /* CLOCK_MONOTONIC */
	uint64_t value; /* of HAUL_TRACE_VALUE: the whole word */
};

/* False: *why says what is wrong with the file. */
bool trace_raw_read(struct trace_raw *raw, FILE *in, const char **why);
void trace_raw_free(struct trace_raw *raw);

/* Event i of a ring. The time of names and texts is none. */
struct trace_event trace_raw_event(
	const struct trace_raw *raw, const struct trace_ring *ring, uint64_t i);

/* The time that so many ticks take. */
uint64_t trace_raw_ns(const struct trace_raw *raw, uint64_t ticks);

/* Why the file was written. */
const char *trace_raw_why(uint32_t why);
/* How a slice ended, enum haul_trace_how. */
const char *trace_raw_stop(unsigned how);
/* What becomes of a frame, enum haul_trace_frame, up to the name of the event. */
const char *trace_raw_frame(unsigned fate);
/* What ended a wait, enum haul_trace_end; NULL: not known. */
const char *trace_raw_end(unsigned end);

#endif
