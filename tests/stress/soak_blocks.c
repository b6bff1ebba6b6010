/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations of the soak that have others inside: scopes, shields, values. */
#include <errno.h>
#include <stdlib.h>

#include <haul/scope.h>

#include "soak.h"

static const char key; /* of a value */

struct child {
	struct haul_scope *scope;
	uint64_t seed;
	atomic_uint *alive;
	const void *value;
	unsigned depth;
};

static int child(void *arg)
{
	struct child c = *(struct child *)arg;
	struct actor a = actor(c.seed, c.depth);

	free(arg);
	s.alive++;
	RIGHT(haul_value(&key) == c.value);
	soak_steps(&a, below(&a, 3));
	if (below(&a, 20) == 0)
		haul_scope_cancel(c.scope);
	s.alive--;
	(*c.alive)--;
	return below(&a, 4) ? 0 : -EIO;
}

static void spawns_child(struct actor *a, struct haul_scope *scope, atomic_uint *alive)
{
	const struct haul_coro_opts opts = draw_opts(a);
	struct child *c = malloc(sizeof(*c));

	RIGHT(c != NULL);
	*c = (struct child){
		scope, hauli_random_next(&a->random), alive, haul_value(&key), a->depth + 1};
	(*alive)++;
	if (!spawned(below(a, 3)
			    ? haul_scope_spawn(scope, child, c, &opts)
			    : haul_scope_spawn_on(scope, haul_carrier(s.rt, below(a, s.carriers)),
				      child, c, &opts))) {
		(*alive)--;
		free(c);
	}
}

void soak_opens_scope(struct actor *a)
{
	enum haul_scope_policy policy = (enum haul_scope_policy)below(a, 3);
	atomic_uint alive = 0;

	{
		HAUL_SCOPE(scope,
			below(a, 3) ? haul_in((20 + below(a, 1000)) * HAUL_US) : HAUL_FOREVER,
			policy);

		for (unsigned n = below(a, 5); n > 0; n--) {
			spawns_child(a, &scope, &alive);
			if (below(a, 3) == 0)
				soak_steps(a, 1);
		}
		if (below(a, 4) == 0)
			haul_scope_cancel(&scope);
		if (below(a, 2))
			(void)haul_scope_join(&scope);
	}
	RIGHT(alive == 0);
}

void soak_is_shielded(struct actor *a)
{
	bool was = haul_cancelled();

	{
		HAUL_SHIELD(haul_in(HAUL_S * 3600));
		RIGHT(!haul_cancelled());
		soak_steps(a, 1);
	}
	RIGHT(!was || haul_cancelled());
}

void soak_has_value(struct actor *a)
{
	HAUL_WITH(&key, a);
	RIGHT(haul_value(&key) == a);
	soak_steps(a, 1);
}
