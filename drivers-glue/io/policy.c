/* SPDX-License-Identifier: BSD-3-Clause */
/* What pollers do when there is nothing: how it is told, and changed while they run. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "io/idle.h"
#include "io/pause.h"
#include "io/policy.h"

#define US_MAX 10000000 /* ten seconds */
#define PAUSE_US_MAX 50 /* nobody wakes a carrier from a pause, so others wait for its end */

static const struct {
	const char *name;
	uint64_t ns; /* where the user says none */
	unsigned us_max; /* 0: takes no time */
	bool needs_source;
} kinds[] = {
	[HAUL_POLL_SPIN] = {"spin"},
	[HAUL_POLL_BLOCK] = {"block", .needs_source = true},
	[HAUL_POLL_ADAPTIVE] = {"adaptive", 50 * HAUL_US, US_MAX, true},
	[HAUL_POLL_SLEEP] = {"sleep", 100 * HAUL_US, US_MAX},
	[HAUL_POLL_PAUSE] = {"pause", HAUL_US, PAUSE_US_MAX},
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

const char *haul_poll_name(enum haul_poll_how how)
{
	return (unsigned)how < KINDS ? kinds[how].name : "?";
}

bool haul_poll_available(enum haul_poll_how how)
{
	return (unsigned)how < KINDS && (how != HAUL_POLL_PAUSE || hauli_pause_works());
}

static bool parse_us(uint64_t *ns, const char *text, unsigned max)
{
	char *end;
	unsigned long us = strtoul(text, &end, 10);

	*ns = us * HAUL_US;
	return isdigit((unsigned char)text[0]) && *end == '\0' && us >= 1 && us <= max;
}

int haul_poll_parse(struct haul_poll_policy *policy, const char *text, char *errbuf, size_t errlen)
{
	size_t len;
	unsigned i;

	HAUL_MISUSE_IF(!policy || !text, "the policy or the text is NULL");
	len = strcspn(text, ":");
	for (i = 0; i < KINDS; i++) {
		if (strlen(kinds[i].name) != len || strncmp(kinds[i].name, text, len) != 0)
			continue;
		policy->how = (enum haul_poll_how)i;
		policy->ns = kinds[i].ns;
		if (text[len] == '\0')
			return 0;
		if (parse_us(&policy->ns, text + len + 1, kinds[i].us_max))
			return 0;
	}
	snprintf(errbuf, errlen,
		"poller '%s': give spin, pause[:US], block, adaptive[:US] or sleep[:US], US from 1 "
		"to %d microseconds, for pause to %d",
		text, US_MAX, PAUSE_US_MAX);
	return -EINVAL;
}

int hauli_policy_check(const struct haul_io_opts *opts, const struct haul_port *port,
	struct haul_poll_policy *policy, char *errbuf, size_t errlen)
{
	const char *name = haul_poll_name(policy->how);
	const char *why = NULL;

	if ((unsigned)policy->how >= KINDS)
		why = "there is no such kind of poller; use spin, pause, block, adaptive or sleep";
	else if (!haul_poll_available(policy->how))
		why = "this CPU has no light pause (x86: WAITPKG); use spin or sleep";
	else if (policy->how == HAUL_POLL_PAUSE && policy->ns > PAUSE_US_MAX * HAUL_US)
		why = "a pause is at most 50 us; give less, or use sleep";
	else if (kinds[policy->how].needs_source && opts->source)
		why = "who makes packets has none to wait for; use sleep or spin";
	else if (kinds[policy->how].needs_source && !port->waitable)
		why = "it has nothing that tells when packets come; use sleep or spin";
	if (why) {
		snprintf(errbuf, errlen, "port '%s': %s: %s", haul_port_spec(port), name, why);
		return -EINVAL;
	}
	if (policy->ns == 0)
		policy->ns = kinds[policy->how].ns;
	return 0;
}

struct change {
	struct hauli_poller *poller;
	struct haul_poll_policy policy;
	unsigned port;
};

/* A coroutine of the poller's carrier: what the poller reads needs no other protection, and it is
 * not within a wait. */
static void *apply(void *arg)
{
	const struct change *c = arg;

	c->poller->rxqs[c->port].policy = c->policy;
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
	err = hauli_policy_check(&io->opts, io->ports[port], &change.policy, errbuf, errlen);
	for (c = 0; c < io->nb_pollers && err == 0; c++) {
		if (carrier >= 0 && c != (unsigned)carrier)
			continue;
		change.poller = io->pollers[c];
		err = haul_spawn_on(change.poller->carrier, &co, apply, &change, &opts);
		if (err == 0)
			err = haul_join(co, NULL);
		if (err < 0)
			snprintf(errbuf, errlen, "haul_io_set_policy: carrier %u: %s", c,
				strerror(-err));
	}
	return err;
}
