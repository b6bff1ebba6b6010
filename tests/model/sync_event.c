/* SPDX-License-Identifier: BSD-3-Clause */
/* A wait for an event, against its set and a deadline or a cancel, by the real lib/sync: what the
 * setter wrote is seen, and a waiter that has seen the event may free it. */
#include "sync/event.h"

#include "sync_home.h"

static struct {
	struct home home;
	struct haul_event event;
	uint64_t data; /* of the server, for the waiter */
	uint64_t was_set; /* for the waiter */
} m;

static struct home *home_of_model(void)
{
	return &m.home;
}

static void init(void)
{
	home_init(&m.home);
}

static void waiter(void)
{
	int err = hauli_event_wait_with(&m.event, DEADLINE, &m.home.w);

	MODEL_ASSERT(err == 0 || err == ENDED);
	home_end();
	if (err == 0) {
		MODEL_ASSERT(m.data == 1 && haul_event_is_set(&m.event));
		m.was_set = 1;
		model_free(&m.event, sizeof(m.event));
	}
}

static void server(void)
{
	m.data = 1;
	haul_event_set(&m.event);
}

static void check(void)
{
	const struct hauli_crowd *crowd = (const struct hauli_crowd *)&m.event;

	if (m.was_set)
		return;
	MODEL_ASSERT(!crowd->q.list.first && !crowd->going.first);
	MODEL_ASSERT(haul_event_is_set(&m.event));
}

int main(int argc, char **argv)
{
	return model_of(argc, argv, "sync: event" ENDS, &m, sizeof(m), init, waiter, server, check);
}
