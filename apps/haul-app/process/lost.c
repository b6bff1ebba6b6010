/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/lost.h"

#include <string.h>

#include "process/hand_over.h"
#include "process/say.h"

/* With a carrier: it keeps the main thread from all else. The next look goes on. */
#define PATIENCE (100 * HAUL_MS)

static bool told[HAUL_APP_PORTS_MAX]; /* by port; main thread, as the next */
static bool lost[HAUL_APP_PORTS_MAX]; /* detached here, not by a command */

static bool is_last(const struct hauli_app *a, unsigned port)
{
	for (unsigned i = 0; i < a->nb_ports; i++)
		if (i != port && haul_io_is_attached(a->pub.io, i))
			return false;
	return true;
}

static bool ends_with(const struct hauli_app *a, unsigned port)
{
	switch ((enum hauli_lost_port)a->lost_port) {
	case HAULI_LOST_PORT_END:
		return true;
	case HAULI_LOST_PORT_RETURN:
		return false;
	default:
		return is_last(a, port);
	}
}

/* What a fault asks for is not enough where ports do not return by themselves. */
static const char *and_restart(const struct hauli_app *a, const char *fault)
{
	return a->lost_port != HAULI_LOST_PORT_RETURN && strstr(fault, "; ") ? " and restart" : "";
}

static const char *end_line(const struct hauli_app *a, const char *fault)
{
	static char line[1024];

	snprintf(line, sizeof(line), "%s%s", fault, and_restart(a, fault));
	return line;
}

static void detach(struct hauli_app *a, unsigned port, const char *fault)
{
	char errbuf[512];
	int err;

	hauli_hand_over_withdraw(a, "it has lost a port");
	err = haul_io_detach_port(a->pub.io, port, PATIENCE, errbuf, sizeof(errbuf));
	if (!err)
		haul_app_say(a->pub.program, "%s%s; %s", fault, and_restart(a, fault),
			a->lost_port == HAULI_LOST_PORT_RETURN ? "it is taken again when it is back"
							       : "the other ports go on");
	else if (!told[port])
		haul_app_say(a->pub.program, "%s; it is tried again: %s", fault, errbuf);
	told[port] = err != 0;
	lost[port] = err == 0;
}

static void try_again(struct hauli_app *a, unsigned port)
{
	char errbuf[512];

	if (haul_io_attach_port(a->pub.io, port, PATIENCE, errbuf, sizeof(errbuf)) != 0)
		return;
	lost[port] = false;
	if (a->hooks->attached)
		a->hooks->attached(&a->pub, port);
	haul_app_say(a->pub.program, "port '%s' is back", haul_port_spec(a->ports[port]));
	hauli_app_note(a, haul_port_notice(a->ports[port]));
}

bool hauli_app_lost_look(struct hauli_app *a, const char **why)
{
	const char *fault;

	for (unsigned i = 0; i < a->nb_ports; i++) {
		if (!haul_io_is_attached(a->pub.io, i)) {
			if (lost[i] && a->lost_port == HAULI_LOST_PORT_RETURN)
				try_again(a, i);
			continue;
		}
		lost[i] = false;
		fault = haul_port_fault(a->ports[i]);
		if (!fault[0])
			continue;
		if (ends_with(a, i)) {
			*why = end_line(a, fault);
			return false;
		}
		detach(a, i, fault);
	}
	return true;
}

int haul_app_detach_port(
	struct haul_app *app, unsigned port, uint64_t timeout_ns, char *errbuf, size_t errlen)
{
	int err;

	hauli_hand_over_withdraw(&hauli_app_state, "one of its ports is detached");
	err = haul_io_detach_port(app->io, port, timeout_ns, errbuf, errlen);
	if (!err)
		lost[port] = false;
	return err;
}

bool hauli_app_lost_any(const struct hauli_app *a)
{
	for (unsigned i = 0; i < a->nb_ports; i++)
		if (haul_io_is_attached(a->pub.io, i) && haul_port_fault(a->ports[i])[0])
			return true;
	return false;
}
