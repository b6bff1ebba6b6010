/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A carrier lives if it runs a coroutine: one is spawned on each, and the next after it has run. So
 * the question goes the way of handlers, and costs a spawn a second; a carrier that sleeps wakes up
 * for it. Nobody is asked unless somebody wants to know.
 */
#include "health/health.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include <systemd/sd-daemon.h>

#include <haul-dpdk/port_info.h>

#include "conc/word.h"
#include "process/unit.h"

#define LOOK HAUL_S /* between questions, unless somebody is less patient */

struct pulse {
	struct hauli_u32_published answered; /* by the carrier */
	unsigned asked;
	uint64_t asked_at;
};

static struct {
	struct hauli_u32_published health; /* enum hauli_health */
	struct pulse *pulses; /* of each carrier; NULL: nobody wants to know */
	uint64_t looked_at;
} h;

enum hauli_health hauli_health_now(void)
{
	return (enum hauli_health)hauli_u32_published_get(&h.health);
}

bool haul_app_is_serving(const char **state)
{
	enum hauli_health health = hauli_health_now();

	if (state)
		*state = hauli_health_name(health);
	return health == HAULI_HEALTH_SERVING;
}

bool hauli_health_is_watched(const struct hauli_app *a)
{
	return a->on_health || a->metrics || hauli_unit_watchdog() > 0;
}

int hauli_health_begin(struct hauli_app *a)
{
	return hauli_guard_begin(a);
}

static void set(const struct hauli_app *a, enum hauli_health health)
{
	bool changes = health != hauli_health_now();
	/* Ready, too, without a link, which others may bring. */
	bool ready = health == HAULI_HEALTH_SERVING || health == HAULI_HEALTH_NO_LINK;

	hauli_u32_published_set(&h.health, health);
	hauli_guard_tell(a, health);
	if (changes)
		sd_notifyf(0, "%sSTATUS=%s", ready ? "READY=1\n" : "", hauli_health_name(health));
	if (hauli_unit_watchdog() && health != HAULI_HEALTH_HUNG)
		sd_notify(0, "WATCHDOG=1");
}

static void *answer(void *arg)
{
	struct pulse *p = arg;

	hauli_u32_published_set(&p->answered, hauli_u32_published_get(&p->answered) + 1);
	return NULL;
}

/* True if the carrier has not answered for too long. */
static bool is_hung(const struct hauli_app *a, unsigned carrier, uint64_t now)
{
	const struct haul_coro_opts opts = {.name = "health", .pinned = true};
	struct pulse *p = &h.pulses[carrier];

	if (hauli_u32_published_get(&p->answered) != p->asked)
		return now - p->asked_at >= a->hang_after;
	p->asked_at = now;
	/* Without memory it is asked the next time. */
	if (haul_spawn_on(haul_carrier(a->pub.rt, carrier), NULL, answer, p, &opts) == 0)
		p->asked++;
	return false;
}

static bool is_any_hung(const struct hauli_app *a, uint64_t now)
{
	bool hung = false;

	if (!h.pulses && hauli_health_is_watched(a)) {
		h.pulses = calloc(a->plan->carriers, sizeof(h.pulses[0]));
		if (!h.pulses)
			abort();
	}
	for (unsigned c = 0; h.pulses && c < a->plan->carriers; c++)
		hung |= is_hung(a, c, now);
	return hung;
}

static bool has_any_link(const struct hauli_app *a)
{
	for (unsigned i = 0; i < a->nb_ports; i++)
		if (haul_port_has_link(a->ports[i]))
			return true;
	return false;
}

uint64_t hauli_health_period(const struct hauli_app *a)
{
	uint64_t watchdog = hauli_unit_watchdog();
	uint64_t most = watchdog && watchdog < a->hang_after ? watchdog : a->hang_after;

	return most / 3 < LOOK ? most / 3 : LOOK;
}

void hauli_health_look(struct hauli_app *a)
{
	uint64_t now = haul_now();

	if (h.looked_at && now - h.looked_at < hauli_health_period(a) / 2)
		return;
	h.looked_at = now;
	if (a->paused)
		set(a, HAULI_HEALTH_DRAINING);
	else if (!has_any_link(a))
		set(a, HAULI_HEALTH_NO_LINK);
	else
		set(a, is_any_hung(a, now) ? HAULI_HEALTH_HUNG : HAULI_HEALTH_SERVING);
}

void hauli_health_reloads(bool begins)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (begins)
		sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64,
			(uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000);
	else
		sd_notify(0, "READY=1");
}

void hauli_health_drain(struct hauli_app *a, uint64_t ns)
{
	sd_notifyf(0, "STOPPING=1\nEXTEND_TIMEOUT_USEC=%" PRIu64, (ns + 10 * HAUL_S) / HAUL_US);
	set(a, HAULI_HEALTH_DRAINING);
}

void hauli_health_stopped(struct hauli_app *a)
{
	sd_notify(0, "STOPPING=1");
	set(a, HAULI_HEALTH_STOPPED);
}

void hauli_health_handed_over(struct hauli_app *a)
{
	hauli_u32_published_set(&h.health, HAULI_HEALTH_HANDED_OVER);
	hauli_guard_tell(a, HAULI_HEALTH_HANDED_OVER);
	if (!hauli_unit_has_heir())
		sd_notify(0, "STOPPING=1\nSTATUS=handed over");
}

void hauli_health_end(void)
{
	hauli_guard_end();
	free(h.pulses);
	h.pulses = NULL;
}
