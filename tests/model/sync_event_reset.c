/* SPDX-License-Identifier: BSD-3-Clause */
/* An event that is set is reset, and then work is looked for, against work that arrives and the set
 * that tells of it, by the real lib/sync: either the work is seen, or the next wait ends. */
#define LASTS 1
#include "sync/event.h"

#include "conc/word.h"
#include "sync_home.h"

static struct {
	struct home home;
	struct haul_event event;
	struct hauli_u8_owned work;
} m;

static struct home *home_of_model(void)
{
	return &m.home;
}

static void init(void)
{
	home_init(&m.home);
	haul_event_set(&m.event);
}

static void waiter(void)
{
	haul_event_reset(&m.event);
	if (!hauli_u8_owned_get(&m.work)) {
		MODEL_ASSERT(hauli_event_wait_with(&m.event, DEADLINE, &m.home.w) == 0);
		MODEL_ASSERT(hauli_u8_owned_get(&m.work));
	}
	home_end();
}

static void server(void)
{
	hauli_u8_owned_set(&m.work, 1);
	haul_event_set(&m.event);
}

int main(int argc, char **argv)
{
	return model_of(
		argc, argv, "sync: event, reset" ENDS, &m, sizeof(m), init, waiter, server, NULL);
}
