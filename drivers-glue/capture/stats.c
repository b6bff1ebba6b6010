/* SPDX-License-Identifier: BSD-3-Clause */
/* The figures of a capture. */
#include "base/assert.h"
#include "capture/state.h"

#define NO_CAPTURE "NULL is given; give what haul_capture_open() has given"

void haul_capture_get_stats(
	const struct haul_capture *c, unsigned port, struct haul_capture_stats *st)
{
	HAUL_MISUSE_IF(!c || !st, NO_CAPTURE);
	*st = (struct haul_capture_stats){0};
	for (unsigned p = 0; p < c->opts.nb_ports; p++) {
		if (port != HAUL_ALL && p != port)
			continue;
		st->captured += hauli_counter_read(&c->ports[p].written);
		st->dropped += hauli_counter_read(&c->ports[p].lost);
		for (unsigned i = 0; i < c->opts.carriers; i++)
			st->dropped += hauli_counter_read(&c->carriers[i]->ports[p].no_room);
	}
	if (port == HAUL_ALL) {
		st->bytes = hauli_counter_read(&c->bytes);
		st->files = hauli_counter_read(&c->files);
	}
}

const char *haul_capture_fault(const struct haul_capture *c)
{
	HAUL_MISUSE_IF(!c, NO_CAPTURE);
	return hauli_u32_published_get(&c->has_fault) ? c->fault : "";
}
