/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes a trace in Perfetto's form: tracks, and slices, instants, counters and flows on them
 * (protos/perfetto/trace/track_event/track_event.proto; tests/unit/trace.proto has the fields that
 * are used). Texts get a number when they are used first, and are written once.
 */
#ifndef TRACE_OUT_H
#define TRACE_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Annotations of an event: names are literals. */
#define TRACE_NOTES 4
struct trace_note {
	const char *name;
	enum { TRACE_NOTE_NUMBER, TRACE_NOTE_ADDRESS, TRACE_NOTE_TEXT } kind;
	uint64_t number; /* or an address */
	const char *text;
};

struct trace_point {
	uint64_t ns, track;
	const char *name; /* of a slice that begins, and of an instant */
	uint64_t flow, flow_ends; /* that passes through here, or ends; 0: none */
	struct trace_note notes[TRACE_NOTES];
	unsigned nb_notes;
};

struct trace_out;

struct trace_out *trace_out_begin(FILE *to); /* NULL: no memory */
/* Returns the number of packets. False: no memory, or a write has failed. */
bool trace_out_end(struct trace_out *out, uint64_t *packets);

/* Tracks have numbers of the caller's, from 1. */
void trace_out_process(struct trace_out *out, uint64_t track, uint32_t pid, const char *name);
void trace_out_track(struct trace_out *out, uint64_t track, uint64_t parent, const char *name);
void trace_out_thread(struct trace_out *out, uint64_t track, uint64_t parent, uint32_t pid,
	uint32_t tid, const char *name);
void trace_out_counter_track(
	struct trace_out *out, uint64_t track, uint64_t parent, const char *name);

void trace_out_slice_begins(struct trace_out *out, const struct trace_point *p);
void trace_out_slice_ends(struct trace_out *out, const struct trace_point *p);
void trace_out_instant(struct trace_out *out, const struct trace_point *p);
void trace_out_counter(struct trace_out *out, uint64_t ns, uint64_t track, int64_t value);

/* Adds a note. */
static inline void trace_point_number(struct trace_point *p, const char *name, uint64_t n)
{
	p->notes[p->nb_notes++] =
		(struct trace_note){.name = name, .kind = TRACE_NOTE_NUMBER, .number = n};
}
static inline void trace_point_address(struct trace_point *p, const char *name, uint64_t address)
{
	p->notes[p->nb_notes++] =
		(struct trace_note){.name = name, .kind = TRACE_NOTE_ADDRESS, .number = address};
}
static inline void trace_point_text(struct trace_point *p, const char *name, const char *text)
{
	p->notes[p->nb_notes++] =
		(struct trace_note){.name = name, .kind = TRACE_NOTE_TEXT, .text = text};
}

#endif
