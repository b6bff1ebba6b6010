/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync/spin.h"

#include "base/clock.h"

/* Between two reads of the clock, which takes as long as some pauses. */
#define LOOKS 8

static bool look(const struct haul_carrier *c, const struct hauli_handoff *h)
{
	for (unsigned i = 0; i < LOOKS; i++) {
		if (!hauli_handoff_spins(h) || !hauli_inbox_is_empty(&c->mail.inbox))
			return true;
		hauli_cpu_pause();
	}
	return false;
}

void hauli_sync_spin(const struct haul_carrier *c, const struct hauli_handoff *h)
{
	uint64_t start = hauli_ticks();

	while (!look(c, h) && hauli_ticks() - start < c->wait.spin.ticks)
		;
}
