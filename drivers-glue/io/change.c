/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Changes of running pollers, each made by a coroutine on the poller's carrier, or, if that does
 * not answer in time, not at all (on_carrier.c).
 */
#include <errno.h>
#include <stdio.h>

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
static int apply_on(struct haul_io *io, unsigned carrier, struct change *change,
	uint64_t timeout_ns, char *errbuf, size_t errlen)
{
	char why[160];
	int err = 0;

	for (unsigned c = 0; c < io->nb_pollers && err == 0; c++) {
		if (carrier != HAUL_ALL && c != carrier)
			continue;
		change->poller = io->pollers[c];
		err = hauli_on_carrier(change->poller, "change", apply, change, timeout_ns);
		if (err == 0)
			continue;
		hauli_on_carrier_tell(change->poller, err, why, sizeof(why));
		snprintf(errbuf, errlen, "%s: %s", change->caller, why);
	}
	return err;
}

static void set_policy(const struct change *c, struct hauli_poller *p)
{
	for (struct hauli_rxq *r = p->rxqs; r < p->rxqs_end; r++)
		if (c->port == HAUL_ALL || r->rx.port == c->port)
			hauli_rxq_set_policy(r, &c->policy);
	hauli_idle_recompute(p);
}

/* That pollers can do this for a port or HAUL_ALL. A detached one is asked when it is back. */
static int check_kind(const struct haul_io *io, unsigned port, struct haul_poll_policy *policy,
	char *errbuf, size_t errlen)
{
	int err = 0;

	for (unsigned i = 0; i < io->opts.nb_ports && err == 0; i++)
		if ((port == HAUL_ALL || i == port) && hauli_io_has_port(io, i))
			err = hauli_poller_kind_check(
				&io->opts, io->ports[i], policy, errbuf, errlen);
	return err;
}

int haul_io_set_policy(struct haul_io *io, unsigned port, unsigned carrier,
	const struct haul_poll_policy *policy, uint64_t timeout_ns, char *errbuf, size_t errlen)
{
	struct change change = {.caller = __func__, .apply = set_policy, .port = port};
	int err;

	HAUL_MISUSE_IF(!io || !policy, "io or the policy is NULL");
	change.policy = *policy;
	if (port != HAUL_ALL && port >= io->opts.nb_ports) {
		snprintf(errbuf, errlen, "%s: there is no port %u", __func__, port);
		return -EINVAL;
	}
	if (carrier != HAUL_ALL && carrier >= io->nb_pollers) {
		snprintf(errbuf, errlen, "%s: carrier %u has no poller", __func__, carrier);
		return -EINVAL;
	}
	err = check_kind(io, port, &change.policy, errbuf, errlen);
	return err ? err : apply_on(io, carrier, &change, timeout_ns, errbuf, errlen);
}

static void set_burst(const struct change *c, struct hauli_poller *p)
{
	p->burst = c->burst;
}

int haul_io_set_burst(
	struct haul_io *io, uint16_t burst, uint64_t timeout_ns, char *errbuf, size_t errlen)
{
	struct change change = {.caller = __func__, .apply = set_burst, .burst = burst};
	int err;

	HAUL_MISUSE_IF(!io, HAULI_NO_IO);
	if (burst == 0 || burst > HAULI_BURST_MAX) {
		snprintf(errbuf, errlen, "%s: burst is %u; give 1 to %u", __func__, burst,
			HAULI_BURST_MAX);
		return -EINVAL;
	}
	err = apply_on(io, HAUL_ALL, &change, timeout_ns, errbuf, errlen);
	if (!err)
		io->opts.burst = burst;
	return err;
}
