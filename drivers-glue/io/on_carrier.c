/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/on_carrier.h"

int hauli_on_carrier(const struct hauli_poller *p, const char *name, haul_fn *fn, void *arg)
{
	const struct haul_coro_opts opts = {.name = name, .pinned = true};
	struct haul_coro *co;
	int err = haul_spawn_on(p->carrier, &co, fn, arg, &opts);

	return err ? err : haul_join(co, NULL, HAUL_FOREVER);
}
