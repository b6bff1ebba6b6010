/* SPDX-License-Identifier: BSD-3-Clause */
#include "simnet/switch.h"

#include <stdlib.h>
#include <string.h>

#include "sim/world.h"
#include "simnet/link.h"

#define LEAST 64 /* places of the table; a power of two, as it stays */

struct place {
	uint64_t address; /* 0: free */
	struct hauli_simlink *out;
};

struct hauli_switch {
	struct hauli_simlink **outs;
	unsigned nb_outs;
	struct place *places;
	unsigned size, used;
};

struct hauli_switch *hauli_switch_new(void)
{
	struct hauli_switch *s = hauli_sim_needed(calloc(1, sizeof(*s)));

	s->size = LEAST;
	s->places = hauli_sim_needed(calloc(s->size, sizeof(s->places[0])));
	return s;
}

void hauli_switch_add(struct hauli_switch *s, struct hauli_simlink *out)
{
	s->outs = hauli_sim_needed(realloc(s->outs, (s->nb_outs + 1) * sizeof(s->outs[0])));
	s->outs[s->nb_outs++] = out;
}

static uint64_t address_at(const uint8_t *bytes)
{
	uint64_t address = 0;

	memcpy(&address, bytes, 6);
	return address;
}

static struct place *place_of(const struct hauli_switch *s, uint64_t address)
{
	unsigned i = (unsigned)(address * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (s->size - 1);

	while (s->places[i].address && s->places[i].address != address)
		i = (i + 1) & (s->size - 1);
	return &s->places[i];
}

static void grow(struct hauli_switch *s)
{
	struct place *old = s->places;
	unsigned size = s->size;

	s->size *= 2;
	s->places = hauli_sim_needed(calloc(s->size, sizeof(s->places[0])));
	for (unsigned i = 0; i < size; i++)
		if (old[i].address)
			*place_of(s, old[i].address) = old[i];
	free(old);
}

static void learn(struct hauli_switch *s, uint64_t address, struct hauli_simlink *out)
{
	struct place *p = place_of(s, address);

	if (!p->address) {
		if (2 * ++s->used > s->size) {
			grow(s);
			p = place_of(s, address);
		}
		p->address = address;
	}
	p->out = out;
}

void hauli_switch_forward(
	struct hauli_switch *s, const struct hauli_simlink *by, struct hauli_frame *frame)
{
	uint64_t to, from;
	struct place *p;

	if (frame->len < 14)
		return;
	to = address_at(frame->data);
	from = address_at(frame->data + 6);
	if (!(frame->data[6] & 1) && from)
		learn(s, from, by->back);
	p = place_of(s, to);
	if (!(frame->data[0] & 1) && p->address) {
		if (p->out != by->back)
			hauli_simlink_send(p->out, frame);
		return;
	}
	for (unsigned i = 0; i < s->nb_outs; i++)
		if (s->outs[i] != by->back)
			hauli_simlink_send(s->outs[i], frame);
}
