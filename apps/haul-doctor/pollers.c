/* SPDX-License-Identifier: BSD-3-Clause */
#include "pollers.h"

#include <inttypes.h>
#include <string.h>

#include <haul-dpdk/io.h>
#include <haul-dpdk/port.h>

#include "costs.h"

static double us(uint64_t ns)
{
	return (double)ns / (double)HAUL_US;
}

static void say_spin(const struct doctor_costs *c, struct doctor_finding *finding)
{
	doctor_say(finding, DOCTOR_OK,
		"uses its core fully; an empty round takes %.1f ns, plus the driver's poll of its "
		"queues",
		c->round);
}

static void say_pause(const struct doctor_costs *c, struct doctor_finding *finding)
{
	if (haul_poll_is_available(HAUL_POLL_PAUSE))
		doctor_say(finding, DOCTOR_OK,
			"as spin, but rests for 1 us (pause:US) at a time, which leaves the core "
			"to "
			"its SMT sibling");
	else
		doctor_say(finding, DOCTOR_OK,
			"not on this CPU, which lacks an instruction for it (x86: WAITPKG)");
}

static void say_sleep(const struct doctor_costs *c, struct doctor_finding *finding)
{
	if (c->coarse)
		doctor_say(finding, DOCTOR_NOTE,
			"sleeps end up to 1 ms late: the kernel has no epoll_pwait2 (Linux 5.11)");
	else
		doctor_say(finding, DOCTOR_OK,
			"a sleep of 1 us ends %.1f us late, one of 50 us %.1f us (medians)",
			us(c->late_1us), us(c->late_50us));
}

static void on_cpu(char *buf, size_t len, int cpu)
{
	if (cpu < 0)
		snprintf(buf, len, "any CPU");
	else
		snprintf(buf, len, "CPU %d", cpu);
}

static void say_block(const struct doctor_costs *c, struct doctor_finding *finding)
{
	char from[32], to[32];

	if (c->coarse) {
		doctor_say(finding, DOCTOR_OK,
			"not measured: the kernel has no epoll_pwait2 (Linux 5.11)");
		return;
	}
	on_cpu(from, sizeof(from), c->waker_cpu);
	on_cpu(to, sizeof(to), c->cpu);
	doctor_say(finding, DOCTOR_OK,
		"a wake-up from %s to %s takes %.1f us (median; p90 %.1f us); it costs "
		"the waker %.1f us, and the carrier %.1f us of CPU time for each wait",
		from, to, us(c->wake_median), us(c->wake_p90), us(c->waker), us(c->wait));
}

/* The time of spinning that costs as much CPU time as one wait. */
static unsigned even_us(const struct doctor_costs *c)
{
	return (unsigned)((c->wait + HAUL_US - 1) / HAUL_US);
}

static void say_adaptive(const struct doctor_costs *c, struct doctor_finding *finding)
{
	if (c->coarse) {
		doctor_say(finding, DOCTOR_OK, "as spin for US, then as block");
		return;
	}
	doctor_say(finding, DOCTOR_OK,
		"as spin, then as block; for packets less than %u us apart, spinning takes no more "
		"CPU time than blocking, and saves the wake-ups",
		even_us(c));
	doctor_todo(
		finding, "--poller adaptive:%u, or a longer time for fewer wake-ups", even_us(c));
}

typedef void say_fn(const struct doctor_costs *costs, struct doctor_finding *finding);

/* NULL: no finding for this policy. */
static say_fn *const says[] = {
	[HAUL_POLL_SPIN] = say_spin,
	[HAUL_POLL_PAUSE] = say_pause,
	[HAUL_POLL_BLOCK] = say_block,
	[HAUL_POLL_ADAPTIVE] = say_adaptive,
	[HAUL_POLL_SLEEP] = say_sleep,
};

static say_fn *say_of(enum haul_poll_how how)
{
	return (unsigned)how < sizeof(says) / sizeof(says[0]) ? says[how] : NULL;
}

static void add_costs(struct haul_app_json *json, const struct doctor_costs *c)
{
	struct haul_app_json *to = haul_app_json_object(json, "costs");

	haul_app_json_number(to, "cpu", c->cpu);
	haul_app_json_number(to, "waker_cpu", c->waker_cpu);
	haul_app_json_bool(to, "has_pause", haul_poll_is_available(HAUL_POLL_PAUSE));
	haul_app_json_real(to, "round_ns", c->round);
	if (c->coarse)
		return;
	haul_app_json_number(to, "late_1us_ns", (int64_t)c->late_1us);
	haul_app_json_number(to, "late_50us_ns", (int64_t)c->late_50us);
	haul_app_json_number(to, "wake_p50_ns", (int64_t)c->wake_median);
	haul_app_json_number(to, "wake_p90_ns", (int64_t)c->wake_p90);
	haul_app_json_number(to, "waker_ns", (int64_t)c->waker);
	haul_app_json_number(to, "wait_cpu_ns", (int64_t)c->wait);
}

static void tell_costs(struct doctor_report *r, const struct doctor_subject *machine)
{
	struct doctor_costs costs;
	const struct haul_poll_kind *kind;
	int err = doctor_costs_measure(&costs, machine->plan);

	doctor_report_group(r, "Poller policies, measured now");
	if (!err && r->json)
		add_costs(r->json, &costs);
	for (unsigned i = 0; (kind = haul_poll_kind(i)) != NULL; i++) {
		struct doctor_finding finding = {0};

		if (!say_of(kind->how))
			continue;
		if (err)
			doctor_say(&finding, DOCTOR_NOTE, "cannot be measured: %s", strerror(-err));
		else
			say_of(kind->how)(&costs, &finding);
		doctor_report_finding(r, machine, kind->name, &finding);
	}
}

/* "spin, pause, sleep": those that a port can have, by its wait source ("": none). */
static void list_pollers(char *list, size_t size, const char *on)
{
	const struct haul_poll_kind *kind;
	size_t len = 0;

	/* Pollers that wait for packets come last, before the name of their wait source. */
	for (int waits = 0; waits <= (on[0] != '\0'); waits++) {
		for (unsigned i = 0; (kind = haul_poll_kind(i)) != NULL && len < size; i++)
			if (kind->needs_wait_source == waits && haul_poll_is_available(kind->how))
				len += (size_t)snprintf(list + len, size - len, "%s%s",
					len > 0 ? ", " : "", kind->name);
	}
}

static void tell_waits(struct doctor_report *r, const struct doctor_subject *machine)
{
	const char *name, *on;
	char list[96];

	doctor_report_group(r, "Poller policies of each kind of port");
	for (unsigned i = 0; (name = haul_port_kind(i, &on)) != NULL; i++) {
		struct doctor_finding finding = {0};

		list_pollers(list, sizeof(list), on);
		if (strcmp(name, "empty") == 0)
			doctor_say(&finding, DOCTOR_OK, "those of the device that it will have");
		else
			doctor_say(&finding, DOCTOR_OK, "%s (%s)", list,
				on[0] ? on : "no way to wait");
		doctor_report_finding(r, machine, name, &finding);
	}
}

void doctor_pollers(struct doctor_report *r, const struct haul_plan *plan)
{
	const struct doctor_subject machine = {.plan = plan};

	tell_costs(r, &machine);
	tell_waits(r, &machine);
}
