/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of each carrier. The first haul_local_set() of a key gives it an index, for all
 * carriers. */
#include "sched/wait/local.h"

#include <errno.h>

#include <haul/carrier.h>

#include "base/forks.h"
#include "conc/word.h"
#include "sched/state/self.h"
#include "sched/wait/suspend.h"

#define NO_KEY "the key is NULL"

/* Written under the lock of the process. */
static const struct haul_local *keys[HAUL_LOCALS_MAX];
static unsigned nb_keys;

/* The index, or -1: it has none yet. Any thread. */
static int index_of(const struct haul_local *key)
{
	return (int)hauli_u32_published_get((const struct hauli_u32_published *)&key->hidden) - 1;
}

/* The new index, or -ENOSPC. */
static int enter(struct haul_local *key)
{
	int index;

	hauli_process_lock();
	index = index_of(key);
	if (index < 0 && nb_keys == HAUL_LOCALS_MAX) {
		index = -ENOSPC;
	} else if (index < 0) {
		index = (int)nb_keys;
		keys[nb_keys++] = key;
		hauli_u32_published_set((struct hauli_u32_published *)&key->hidden, nb_keys);
	}
	hauli_process_unlock();
	return index;
}

/* The carrier. Until this slice ends, when the caller uses its values no more, the carrier cannot
 * leave the caller behind, and no yield that the compiler placed is taken. */
static struct haul_carrier *carrier_here(void)
{
	struct haul_carrier *c = hauli_real_carrier(hauli_here());

	if (c->notes_locals)
		c->locals_at = hauli_ring_popped(&c->runq.ring);
	return c;
}

void *haul_local_get(const struct haul_local *key)
{
	int index;

	HAUL_MISUSE_IF(!key, NO_KEY);
	index = index_of(key);
	/* On a thread that is no carrier this reads the stand-in's values, all of which are
	 * NULL. */
	return index < 0 ? NULL : carrier_here()->locals[index];
}

int haul_local_set(struct haul_local *key, void *value)
{
	struct haul_carrier *c = carrier_here();
	int index;

	HAUL_MISUSE_IF(!key, NO_KEY);
	if (c == &hauli_nowhere)
		return -EPERM;
	index = index_of(key);
	if (index < 0)
		index = enter(key);
	if (index < 0)
		return index;
	c->locals[index] = value;
	return 0;
}

#define PASSES 4 /* a release function may set other values, which are released in the next pass */

static bool release_some(struct haul_carrier *c)
{
	bool any = false;

	for (unsigned i = 0; i < HAUL_LOCALS_MAX; i++) {
		void *value = c->locals[i];

		c->locals[i] = NULL;
		if (value && keys[i]->release) {
			keys[i]->release(value);
			any = true;
		}
	}
	return any;
}

/* Makes the thread look like one that is no carrier, so that a release function that suspends is
 * reported as misuse, as there. */
static void run_nobody(struct haul_carrier *c)
{
	c->current = hauli_nowhere.current;
	c->careful = hauli_nowhere.careful;
	c->exceptions = hauli_nowhere.exceptions;
}

void hauli_locals_release(struct haul_carrier *c)
{
	run_nobody(c);
	for (unsigned i = 0; i < PASSES && release_some(c); i++)
		;
}
