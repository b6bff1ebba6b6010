/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes of the policies of running pollers. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "io/idle.h"
#include "io/poller_kinds.h"

struct change {
	struct hauli_poller *poller;
	struct haul_poll_policy policy;
	unsigned port;
};

/* A coroutine of the poller's carrier: the poller's fields need no other protection, and the poller
 * is not in a wait. */
static void *apply(void *arg)
{
	const struct change *c = arg;

	for (struct hauli_rxq *r = c->poller->rxqs; r < c->poller->rxqs_end; r++)
		if (r->rx.port == c->port)
			r->policy = c->policy;
	hauli_idle_recompute(c->poller);
	return NULL;
}

int haul_io_set_policy(struct haul_io *io, unsigned port, int carrier,
	const struct haul_poll_policy *policy, char *errbuf, size_t errlen)
{
	const struct haul_coro_opts opts = {.name = "policy", .pinned = true};
	struct change change = {.port = port};
	struct haul_coro *co;
	unsigned c;
	int err;

	if (!io || !policy) {
		snprintf(errbuf, errlen, "haul_io_set_policy: io or the policy is NULL");
		return -EINVAL;
	}
	change.policy = *policy;
	if (port >= io->opts.nb_ports || carrier >= (int)io->nb_pollers) {
		snprintf(errbuf, errlen, "haul_io_set_policy: no poller has port %u on carrier %d",
			port, carrier);
		return -EINVAL;
	}
	err = hauli_poller_kind_check(&io->opts, io->ports[port], &change.policy, errbuf, errlen);
	for (c = 0; c < io->nb_pollers && err == 0; c++) {
		if (carrier >= 0 && c != (unsigned)carrier)
			continue;
		change.poller = io->pollers[c];
		err = haul_spawn_on(change.poller->carrier, &co, apply, &change, &opts);
		if (err == 0)
			err = haul_join(co, NULL, HAUL_FOREVER);
		if (err < 0)
			snprintf(errbuf, errlen, "haul_io_set_policy: carrier %u: %s", c,
				strerror(-err));
	}
	return err;
}
