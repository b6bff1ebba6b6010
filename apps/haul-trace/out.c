/* SPDX-License-Identifier: BSD-3-Clause */
#include "out.h"

#include <stdlib.h>
#include <string.h>

#include "proto.h"

#define SEQUENCE 1
enum { CLEARED = 1, NEEDED = 2 }; /* sequence_flags */
enum { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, COUNTER = 4 };

/* Fields, by message. */
enum { TRACE_PACKET = 1 };
enum {
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_TRACK = 60,
};
enum {
	EVENT_NOTE = 4,
	EVENT_TYPE = 9,
	EVENT_NAME = 10,
	EVENT_TRACK = 11,
	EVENT_COUNTER = 30,
	EVENT_FLOW = 47,
	EVENT_FLOW_ENDS = 48,
};
enum { TRACK_UUID = 1, TRACK_NAME, TRACK_PROCESS, TRACK_THREAD, TRACK_PARENT, TRACK_COUNTER = 8 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum { INTERNED_NAME = 2, INTERNED_NOTE_NAME = 3 };
enum { INTERNED_IID = 1, INTERNED_TEXT = 2 };
enum { NOTE_NAME = 1, NOTE_NUMBER = 3, NOTE_TEXT = 6, NOTE_ADDRESS = 7 };

/* Texts that were written, by their number less one, and a table of these by hash. */
struct texts {
	char **items;
	uint32_t n, *table, size; /* size: a power of two */
};

struct trace_out {
	FILE *to;
	uint64_t packets;
	bool failed;
	struct texts names, notes;
};

static uint32_t hash_of(const char *text)
{
	uint32_t h = 2166136261u;

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 16777619u;
	return h;
}

/* The place of a text in the table: 0 there: it is new. */
static uint32_t *place_of(const struct texts *t, const char *text)
{
	uint32_t i = hash_of(text);

	while (t->table[i &= t->size - 1] && strcmp(t->items[t->table[i] - 1], text) != 0)
		i++;
	return &t->table[i];
}

static bool grow(struct texts *t)
{
	uint32_t size = t->size ? 2 * t->size : 64;
	uint32_t *table = calloc(size, sizeof(table[0]));
	char **items = realloc(t->items, size * sizeof(items[0]));

	if (items)
		t->items = items;
	if (!items || !table) {
		free(table);
		return false;
	}
	free(t->table);
	t->table = table;
	t->size = size;
	for (uint32_t i = 0; i < t->n; i++)
		*place_of(t, t->items[i]) = i + 1;
	return true;
}

static void put_packet(struct trace_out *out, const struct proto *packet)
{
	uint8_t head[12] = {TRACE_PACKET << 3 | 2};
	size_t len = 1, n = packet->len;

	do {
		head[len++] = (uint8_t)((n & 127) | (n > 127 ? 128 : 0));
		n >>= 7;
	} while (n > 0);
	out->failed |= fwrite(head, 1, len, out->to) != len ||
		fwrite(packet->bytes, 1, packet->len, out->to) != packet->len;
	out->packets++;
}

/* Begins a packet. */
static void begin(struct trace_out *out, struct proto *packet)
{
	packet->len = 0;
	proto_number(packet, PACKET_SEQUENCE, SEQUENCE);
	proto_number(packet, PACKET_FLAGS, out->packets == 0 ? CLEARED | NEEDED : NEEDED);
}

/* The number of a text; 0: no memory. A new one is written. */
static uint32_t number_of(struct trace_out *out, struct texts *t, unsigned field, const char *text)
{
	struct proto packet, data = {0}, entry = {0};
	uint32_t *at;

	if (2 * t->n >= t->size && !grow(t)) {
		out->failed = true;
		return 0;
	}
	at = place_of(t, text);
	if (*at)
		return *at;
	t->items[t->n] = strdup(text);
	if (!t->items[t->n]) {
		out->failed = true;
		return 0;
	}
	*at = ++t->n;
	proto_number(&entry, INTERNED_IID, *at);
	proto_text(&entry, INTERNED_TEXT, text);
	proto_message(&data, field, &entry);
	begin(out, &packet);
	proto_message(&packet, PACKET_INTERNED, &data);
	put_packet(out, &packet);
	return *at;
}

static void put_track(struct trace_out *out, const struct proto *track)
{
	struct proto packet;

	begin(out, &packet);
	proto_message(&packet, PACKET_TRACK, track);
	put_packet(out, &packet);
}

void trace_out_process(struct trace_out *out, uint64_t track, uint32_t pid, const char *name)
{
	struct proto t = {0}, process = {0};

	proto_number(&process, PROCESS_PID, pid);
	proto_text(&process, PROCESS_NAME, name);
	proto_number(&t, TRACK_UUID, track);
	proto_message(&t, TRACK_PROCESS, &process);
	put_track(out, &t);
}

void trace_out_track(struct trace_out *out, uint64_t track, uint64_t parent, const char *name)
{
	struct proto t = {0};

	proto_number(&t, TRACK_UUID, track);
	proto_text(&t, TRACK_NAME, name);
	proto_number(&t, TRACK_PARENT, parent);
	put_track(out, &t);
}

void trace_out_thread(struct trace_out *out, uint64_t track, uint64_t parent, uint32_t pid,
	uint32_t tid, const char *name)
{
	struct proto t = {0}, thread = {0};

	proto_number(&thread, THREAD_PID, pid);
	proto_number(&thread, THREAD_TID, tid);
	proto_text(&thread, THREAD_NAME, name);
	proto_number(&t, TRACK_UUID, track);
	proto_number(&t, TRACK_PARENT, parent);
	proto_message(&t, TRACK_THREAD, &thread);
	put_track(out, &t);
}

void trace_out_counter_track(
	struct trace_out *out, uint64_t track, uint64_t parent, const char *name)
{
	struct proto t = {0}, counter = {0};

	proto_number(&t, TRACK_UUID, track);
	proto_text(&t, TRACK_NAME, name);
	proto_number(&t, TRACK_PARENT, parent);
	proto_message(&t, TRACK_COUNTER, &counter);
	put_track(out, &t);
}

static void put_note(struct trace_out *out, struct proto *event, const struct trace_note *n)
{
	struct proto note = {0};

	proto_number(&note, NOTE_NAME, number_of(out, &out->notes, INTERNED_NOTE_NAME, n->name));
	if (n->kind == TRACE_NOTE_NUMBER)
		proto_number(&note, NOTE_NUMBER, n->number);
	else if (n->kind == TRACE_NOTE_ADDRESS)
		proto_number(&note, NOTE_ADDRESS, n->number);
	else
		proto_text(&note, NOTE_TEXT, n->text);
	proto_message(event, EVENT_NOTE, &note);
}

static void put_point(struct trace_out *out, const struct trace_point *p, unsigned type)
{
	struct proto packet, event = {0};

	proto_number(&event, EVENT_TYPE, type);
	proto_number(&event, EVENT_TRACK, p->track);
	if (p->name)
		proto_number(
			&event, EVENT_NAME, number_of(out, &out->names, INTERNED_NAME, p->name));
	if (p->flow)
		proto_fixed64(&event, EVENT_FLOW, p->flow);
	if (p->flow_ends)
		proto_fixed64(&event, EVENT_FLOW_ENDS, p->flow_ends);
	for (unsigned i = 0; i < p->nb_notes; i++)
		put_note(out, &event, &p->notes[i]);
	begin(out, &packet);
	proto_number(&packet, PACKET_TIMESTAMP, p->ns);
	proto_message(&packet, PACKET_EVENT, &event);
	put_packet(out, &packet);
}

void trace_out_slice_begins(struct trace_out *out, const struct trace_point *p)
{
	put_point(out, p, SLICE_BEGIN);
}

void trace_out_slice_ends(struct trace_out *out, const struct trace_point *p)
{
	put_point(out, p, SLICE_END);
}

void trace_out_instant(struct trace_out *out, const struct trace_point *p)
{
	put_point(out, p, INSTANT);
}

void trace_out_counter(struct trace_out *out, uint64_t ns, uint64_t track, int64_t value)
{
	struct proto packet, event = {0};

	proto_number(&event, EVENT_TYPE, COUNTER);
	proto_number(&event, EVENT_TRACK, track);
	proto_number(&event, EVENT_COUNTER, (uint64_t)value);
	begin(out, &packet);
	proto_number(&packet, PACKET_TIMESTAMP, ns);
	proto_message(&packet, PACKET_EVENT, &event);
	put_packet(out, &packet);
}

struct trace_out *trace_out_begin(FILE *to)
{
	struct trace_out *out = calloc(1, sizeof(*out));

	if (out)
		out->to = to;
	return out;
}

static void free_texts(struct texts *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		free(t->items[i]);
	free(t->items);
	free(t->table);
}

bool trace_out_end(struct trace_out *out, uint64_t *packets)
{
	bool failed = out->failed || fflush(out->to) != 0;

	*packets = out->packets;
	free_texts(&out->names);
	free_texts(&out->notes);
	free(out);
	return !failed;
}
