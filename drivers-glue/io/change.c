/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes of running pollers. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "io/idle.h"
#include "io/on_carrier.h"
#include "io/poller_kinds.h"

struct change {
	const char *caller; /* for errors */
	void (*apply)(const struct change *c, struct hauli_poller *p);
	struct hauli_poller *poller;
	struct haul_poll_policy policy;
	unsigned port;
	uint16_t burst;
};

/* A coroutine of the poller's carrier: the poller's fields need no other protection, and the poller
 * is not in a wait. */
static void *apply(void *arg)
{
	const struct change *c = arg;

	c->apply(c, c->poller);
	return NULL;
}

/* Applies the change on one carrier or on HAUL_ALL. */
static int apply_on(
	struct haul_io *io, unsigned carrier, struct change *change, char *errbuf, size_t errlen)
{
	int err = 0;

	for (unsigned c = 0; c < io->nb_pollers && err == 0; c++) {
		if (carrier != HAUL_ALL && c != carrier)
			continue;
		change->poller = io->pollers[c];
		err = hauli_on_carrier(change->poller, "change", apply, change);
		if (err < 0)
			snprintf(errbuf, errlen, "%s: carrier %u: %s", change->caller, c,
				strerror(-err));
	}
	return err;
}

static void set_policy(const struct change *c, struct hauli_poller *p)
{
	for (struct hauli_rxq *r = p->rxqs; r < p->rxqs_end; r++)
		if (r->rx.port == c->port)
			r->policy = c->policy;
	hauli_idle_recompute(p);
}

int haul_io_set_policy(struct haul_io *io, unsigned port, unsigned carrier,
	const struct haul_poll_policy *policy, char *errbuf, size_t errlen)
{
	struct change change = {.caller = __func__, .apply = set_policy, .port = port};
	int err;

	HAUL_MISUSE_IF(!io || !policy, "io or the policy is NULL");
	change.policy = *policy;
	if (port >= io->opts.nb_ports) {
		snprintf(errbuf, errlen, "%s: there is no port %u", __func__, port);
		return -EINVAL;
	}
	if (carrier != HAUL_ALL && carrier >= io->nb_pollers) {
		snprintf(errbuf, errlen, "%s: carrier %u has no poller", __func__, carrier);
		return -EINVAL;
	}
	err = hauli_poller_kind_check(&io->opts, io->ports[port], &change.policy, errbuf, errlen);
	return err ? err : apply_on(io, carrier, &change, errbuf, errlen);
}

static void set_burst(const struct change *c, struct hauli_poller *p)
{
	p->burst = c->burst;
}

int haul_io_set_burst(struct haul_io *io, uint16_t burst, char *errbuf, size_t errlen)
{
	struct change change = {.caller = __func__, .apply = set_burst, .burst = burst};
	int err;

	HAUL_MISUSE_IF(!io, HAULI_NO_IO);
	if (burst == 0 || burst > HAULI_BURST_MAX) {
		snprintf(errbuf, errlen, "%s: burst is %u; give 1 to %u", __func__, burst,
			HAULI_BURST_MAX);
		return -EINVAL;
	}
	err = apply_on(io, HAUL_ALL, &change, errbuf, errlen);
	if (!err)
		io->opts.burst = burst;
	return err;
}
