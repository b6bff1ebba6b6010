/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/poller_kinds.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "io/pause.h"
#include "port/kind.h"

#define SLEEP_MAX (10 * HAUL_S)
#define PAUSE_MAX (50 * HAUL_US) /* nothing wakes a carrier from a pause: wakers wait for its end */

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void merge_spin(struct hauli_poller *p, const struct hauli_rxq *r)
{
	p->waits = false;
}

static void merge_pause(struct hauli_poller *p, const struct hauli_rxq *r)
{
	p->idle.pause_ns = earlier(p->idle.pause_ns, r->policy.ns);
}

static void merge_block(struct hauli_poller *p, const struct hauli_rxq *r)
{
}

static void merge_adaptive(struct hauli_poller *p, const struct hauli_rxq *r)
{
	uint64_t ticks = hauli_ticks_from_ns(r->policy.ns);

	if (ticks > p->idle.spin_ticks)
		p->idle.spin_ticks = ticks;
}

static void merge_sleep(struct hauli_poller *p, const struct hauli_rxq *r)
{
	p->idle.longest_ns = earlier(p->idle.longest_ns, r->policy.ns);
	p->idle.fill_time = earlier(p->idle.fill_time, r->fill_time);
}

/* In the order of --help. */
static const struct hauli_poller_kind kinds[] = {
	{
		.shown = {.how = HAUL_POLL_SPIN,
			.name = "spin",
			.form = "spin",
			.help = "poll again at once"},
		.merge = merge_spin,
	},
	{
		.shown = {.how = HAUL_POLL_PAUSE,
			.name = "pause",
			.form = "pause[:US]",
			.help = "rest the CPU for up to US (1) between polls, if it can",
			.ns = HAUL_US,
			.ns_max = PAUSE_MAX},
		.merge = merge_pause,
		.works = hauli_pause_works,
		.no_work = "this CPU has no light pause (x86: WAITPKG); use spin or sleep",
		.too_long = "a pause is at most 50 us; give less, or use sleep",
	},
	{
		.shown = {.how = HAUL_POLL_BLOCK,
			.name = "block",
			.form = "block",
			.help = "wait for packets",
			.needs_wait_source = true,
			.opens_interrupts = true,
			.may_overflow = true},
		.merge = merge_block,
	},
	{
		.shown = {.how = HAUL_POLL_ADAPTIVE,
			.name = "adaptive",
			.form = "adaptive[:US]",
			.help = "spin for US (50), then wait for packets",
			.ns = 50 * HAUL_US,
			.ns_max = SLEEP_MAX,
			.needs_wait_source = true,
			.opens_interrupts = true,
			.may_overflow = true},
		.merge = merge_adaptive,
	},
	{
		.shown = {.how = HAUL_POLL_SLEEP,
			.name = "sleep",
			.form = "sleep[:US]",
			.help = "sleep between polls, longer each time, up to US (100); any port",
			.ns = 100 * HAUL_US,
			.ns_max = SLEEP_MAX,
			.opens_interrupts = true,
			.may_overflow = true},
		.merge = merge_sleep,
	},
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static const struct hauli_poller_kind *find(enum haul_poll_how how)
{
	for (unsigned i = 0; i < KINDS; i++)
		if (kinds[i].shown.how == how)
			return &kinds[i];
	return NULL;
}

const struct hauli_poller_kind *hauli_poller_kind(enum haul_poll_how how)
{
	return find(how);
}

const struct haul_poll_kind *haul_poll_kind(unsigned i)
{
	return i < KINDS ? &kinds[i].shown : NULL;
}

const struct haul_poll_kind *haul_poll_kind_of(enum haul_poll_how how)
{
	const struct hauli_poller_kind *kind = find(how);

	return kind ? &kind->shown : NULL;
}

const char *haul_poll_name(enum haul_poll_how how)
{
	const struct hauli_poller_kind *kind = find(how);

	return kind ? kind->shown.name : "?";
}

bool haul_poll_is_available(enum haul_poll_how how)
{
	const struct hauli_poller_kind *kind = find(how);

	return kind && (!kind->works || kind->works());
}

static bool parse_us(uint64_t *ns, const char *text, uint64_t ns_max)
{
	char *end;
	unsigned long us = strtoul(text, &end, 10);

	*ns = us * HAUL_US;
	return isdigit((unsigned char)text[0]) && *end == '\0' && us >= 1 && us <= ns_max / HAUL_US;
}

/* "spin, pause, block, adaptive or sleep", or their forms. */
static void list_kinds(char *list, size_t size, bool forms)
{
	size_t len = 0;

	for (unsigned i = 0; i < KINDS && len < size; i++) {
		const struct haul_poll_kind *k = &kinds[i].shown;

		len += (size_t)snprintf(list + len, size - len, "%s%s",
			i == 0                  ? ""
				: i < KINDS - 1 ? ", "
						: " or ",
			forms ? k->form : k->name);
	}
}

int haul_poll_parse(struct haul_poll_policy *policy, const char *text, char *errbuf, size_t errlen)
{
	char list[128];
	size_t len;

	HAUL_MISUSE_IF(!policy || !text, "the policy or the text is NULL");
	len = strcspn(text, ":");
	for (unsigned i = 0; i < KINDS; i++) {
		const struct haul_poll_kind *k = &kinds[i].shown;

		if (strlen(k->name) != len || strncmp(k->name, text, len) != 0)
			continue;
		policy->how = k->how;
		policy->ns = k->ns;
		if (text[len] == '\0')
			return 0;
		if (parse_us(&policy->ns, text + len + 1, k->ns_max))
			return 0;
	}
	list_kinds(list, sizeof(list), true);
	snprintf(errbuf, errlen,
		"poller '%s': give %s, US from 1 to %" PRIu64
		" microseconds, for pause to %" PRIu64,
		text, list, (uint64_t)SLEEP_MAX / HAUL_US, (uint64_t)PAUSE_MAX / HAUL_US);
	return -EINVAL;
}

static const char *find_no_wait(const struct haul_port *port)
{
	if (port->kind->wait_on == HAULI_PORT_WAIT_ON_INTERRUPT && !port->opts.waits)
		return "its receive interrupts are off, which begin with block, adaptive or sleep "
		       "at the start of the program; use sleep or spin";
	return "it offers no way to wait for packets; use sleep or spin";
}

static const char *find_fault(const struct haul_io_opts *opts, const struct haul_port *port,
	const struct haul_poll_policy *policy)
{
	const struct hauli_poller_kind *kind = find(policy->how);

	if (kind->works && !kind->works())
		return kind->no_work;
	if (kind->too_long && policy->ns > kind->shown.ns_max)
		return kind->too_long;
	if (kind->shown.needs_wait_source && opts->source)
		return "a source makes packets, and there are none to wait for; use sleep or spin";
	if (kind->shown.needs_wait_source && !port->waitable)
		return find_no_wait(port);
	return NULL;
}

int hauli_poller_kind_check(const struct haul_io_opts *opts, const struct haul_port *port,
	struct haul_poll_policy *policy, char *errbuf, size_t errlen)
{
	const char *name = haul_poll_name(policy->how);
	const char *why;
	char list[96];

	if (!find(policy->how)) {
		list_kinds(list, sizeof(list), false);
		snprintf(errbuf, errlen, "port '%s': %s: there is no such kind of poller; use %s",
			haul_port_spec(port), name, list);
		return -EINVAL;
	}
	why = find_fault(opts, port, policy);
	if (why) {
		snprintf(errbuf, errlen, "port '%s': %s: %s", haul_port_spec(port), name, why);
		return -EINVAL;
	}
	if (policy->ns == 0)
		policy->ns = haul_poll_kind_of(policy->how)->ns;
	return 0;
}
