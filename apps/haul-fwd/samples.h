/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The intended time and the latency of single packets, as a generator's receiver sees them: for the
 * course over time, which a histogram does not show. Each carrier keeps those of its first packets.
 * The carrier writes; the main thread reads while no poller runs.
 */
#ifndef FWD_SAMPLES_H
#define FWD_SAMPLES_H

#include <stdint.h>
#include <stdio.h>

#define SAMPLES_MAX (UINT64_C(1) << 24) /* of a carrier: 256 MiB */

struct samples {
	uint64_t room, n; /* n > room: those beyond were not kept */
	struct sample {
		uint64_t intended, age; /* ns */
	} rows[];
};

/* Returns samples with room for so many packets; NULL for 0. The kernel maps pages when they are
 * written. */
struct samples *samples_new(uint64_t room);

static inline void samples_add(struct samples *s, uint64_t intended, uint64_t age)
{
	if (s->n < s->room)
		s->rows[s->n] = (struct sample){intended, age};
	s->n++;
}

/* Writes a line for each packet, "intended,latency", with intended times since a start. */
void samples_print(const struct samples *s, uint64_t start, FILE *out);

#endif
