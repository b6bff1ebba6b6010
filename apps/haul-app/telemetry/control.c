/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A change is made by a reader, while the main thread waits (process/readers.h): so it writes what
 * the prompt would write, and the main thread, which waits for the reader before it goes on, has to
 * wait for carriers no longer than PATIENCE. That leaves out the time for which they wait for a
 * CPU, so on a busy machine it may be many times as long.
 */
#include "telemetry/control.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATIENCE (100 * HAUL_MS) /* with a carrier */

const char *hauli_policy_text(char text[HAULI_POLICY_TEXT], const struct haul_poll_policy *policy)
{
	const struct haul_poll_kind *kind = haul_poll_kind_of(policy->how);

	if (kind && kind->ns > 0)
		snprintf(text, HAULI_POLICY_TEXT, "%s:%" PRIu64, kind->name, policy->ns / HAUL_US);
	else
		snprintf(text, HAULI_POLICY_TEXT, "%s", haul_poll_name(policy->how));
	return text;
}

/* False: the answer says why nothing can be changed. */
static bool may_change(struct hauli_answer *answer)
{
	const struct hauli_app *a = answer->app;

	if (!a->telemetry_control)
		hauli_answer_fails(
			answer, "not allowed: start the program with --telemetry-control");
	else if (hauli_app_pollers_have_ended(a))
		hauli_answer_fails(answer, "no poller runs now, so there is nothing to change");
	else
		return true;
	return false;
}

/* What is up to the next comma, or the end, in `word`, or "?" if that is longer than any right one.
 * Returns what is behind the comma; NULL: there is none. */
static const char *next_word(const char *text, char *word, size_t size)
{
	size_t n = strcspn(text, ",");

	snprintf(word, size, "%.*s", n < size ? (int)n : 1, n < size ? text : "?");
	return text[n] == ',' ? text + n + 1 : NULL;
}

/* "all", or a number below n. */
static bool read_number(const char *text, unsigned n, unsigned *number)
{
	unsigned long value;
	char *end;

	*number = HAUL_ALL;
	if (strcmp(text, "all") == 0)
		return true;
	value = strtoul(text, &end, 10);
	if (!isdigit((unsigned char)text[0]) || *end != '\0' || value >= n)
		return false;
	*number = (unsigned)value;
	return true;
}

/* The line without the name of the function. */
static void fail_as(struct hauli_answer *answer, const char *line)
{
	const char *colon = strstr(line, ": ");

	hauli_answer_fails(answer, "%s",
		strncmp(line, "haul_io_", strlen("haul_io_")) == 0 && colon ? colon + 2 : line);
}

/* What all pollers do is what they do after the next start, too, and what --poller says. */
static void keep_policy(struct hauli_app *a, const struct haul_poll_policy *policy)
{
	static char text[HAULI_POLICY_TEXT];

	a->io_opts.policy = *policy;
	a->poller_text = hauli_policy_text(text, policy);
}

static void set_policy(struct hauli_answer *answer, unsigned port, unsigned carrier,
	const struct haul_poll_policy *policy)
{
	char text[HAULI_POLICY_TEXT], errbuf[512];

	if (haul_io_set_policy(answer->app->pub.io, port, carrier, policy, PATIENCE, errbuf,
		    sizeof(errbuf)) != 0) {
		fail_as(answer, errbuf);
		return;
	}
	if (port == HAUL_ALL && carrier == HAUL_ALL)
		keep_policy(&hauli_app_state, policy);
	haul_app_json_text(answer->values, "poller", hauli_policy_text(text, policy));
}

static void answer_set_policy(struct hauli_answer *answer)
{
	char port_text[16], carrier_text[16], text[HAULI_POLICY_TEXT], errbuf[512];
	const char *at = answer->params;
	struct haul_poll_policy policy;
	unsigned port, carrier;

	if (!may_change(answer))
		return;
	at = next_word(at, port_text, sizeof(port_text));
	at = next_word(at ? at : "", carrier_text, sizeof(carrier_text));
	at = next_word(at ? at : "", text, sizeof(text));
	if (!read_number(port_text, answer->app->nb_ports, &port))
		hauli_answer_fails(
			answer, "no such port: give PORT,CARRIER,POLICY, or all as PORT");
	else if (!read_number(carrier_text, haul_carriers(answer->rt), &carrier))
		hauli_answer_fails(
			answer, "no such carrier: give PORT,CARRIER,POLICY, or all as CARRIER");
	else if (at || haul_poll_parse(&policy, text, errbuf, sizeof(errbuf)) != 0)
		hauli_answer_fails(answer, "no such policy: give one as --poller takes it");
	else
		set_policy(answer, port, carrier, &policy);
}

static void answer_set_burst(struct hauli_answer *answer)
{
	struct hauli_app *a = &hauli_app_state;
	char errbuf[512];
	unsigned burst;

	if (!may_change(answer))
		return;
	if (strcmp(answer->params, "all") == 0 ||
		!read_number(answer->params, HAULI_APP_BURST_MAX + 1, &burst) || burst == 0) {
		hauli_answer_fails(
			answer, "no such burst: give a number from 1 to %u", HAULI_APP_BURST_MAX);
		return;
	}
	if (haul_io_set_burst(a->pub.io, (uint16_t)burst, PATIENCE, errbuf, sizeof(errbuf)) != 0) {
		fail_as(answer, errbuf);
		return;
	}
	a->burst = burst;
	a->io_opts.burst = (uint16_t)burst;
	haul_app_json_number(answer->values, "burst", burst);
}

static void answer_set_carriers(struct hauli_answer *answer)
{
	struct haul_app *app = &hauli_app_state.pub;
	struct haul_app_json *used;
	char errbuf[512];

	if (!may_change(answer))
		return;
	if (haul_app_use(app, answer->params, PATIENCE, errbuf, sizeof(errbuf)) != 0) {
		fail_as(answer, errbuf);
		return;
	}
	used = haul_app_json_array(answer->values, "carriers");
	for (unsigned c = 0; c < app->plan->carriers; c++)
		if (haul_io_is_used(app->io, c))
			haul_app_json_number(used, NULL, c);
}

static void answer_set_stealing(struct hauli_answer *answer)
{
	const bool on = strcmp(answer->params, "on") == 0;
	char errbuf[256];

	if (!may_change(answer))
		return;
	if (!on && strcmp(answer->params, "off") != 0)
		hauli_answer_fails(answer, "no such choice: give on or off");
	else if (haul_app_set_stealing(&hauli_app_state.pub, on, errbuf, sizeof(errbuf)) != 0)
		hauli_answer_fails(answer, "%s", errbuf);
	else
		haul_app_json_text(answer->values, "stealing", on ? "on" : "off");
}

const struct hauli_telemetry_command hauli_commands_of_control[] = {
	{"/haul/set/burst", "Sets packets per poll. Parameters: int burst", HAULI_NEEDS_PORTS,
		answer_set_burst},
	{"/haul/set/carriers", "Lets these carriers handle all packets. Parameters: list",
		HAULI_NEEDS_PORTS, answer_set_carriers},
	{"/haul/set/policy", "Sets what pollers do. Parameters: port, carrier, policy",
		HAULI_NEEDS_PORTS, answer_set_policy},
	{"/haul/set/stealing", "Lets carriers steal, or not. Parameters: on|off", HAULI_NEEDS_PORTS,
		answer_set_stealing},
	{NULL},
};
