/* SPDX-License-Identifier: BSD-3-Clause */
/* The number of queues, while no pollers run. */
#include <errno.h>
#include <stdio.h>

#include <haul-dpdk/port_config.h>

#include "process/state.h"

static int check(const struct hauli_app *a, char *errbuf, size_t errlen)
{
	const char *wrong = NULL;

	if (!a->paused || !a->pub.io)
		wrong = "packets are handled; stop that first";
	else if (a->balance != 0)
		wrong = "--balance knows the queues of the start; begin without it";
	if (!wrong)
		return 0;
	snprintf(errbuf, errlen, "%s", wrong);
	return -EBUSY;
}

/* Ports before the nth get back what they had. */
static void change_back(struct hauli_app *a, const unsigned *before, unsigned n)
{
	char line[256];

	for (unsigned i = 0; i < n; i++)
		(void)haul_port_set_queues(a->ports[i], before[i], line, sizeof(line));
}

int haul_app_set_queues(struct haul_app *app, unsigned queues, char *errbuf, size_t errlen)
{
	struct hauli_app *a = &hauli_app_state;
	unsigned before[HAUL_APP_PORTS_MAX], i;
	int err = check(a, errbuf, errlen), failed;
	char line[256];

	if (err)
		return err;
	for (i = 0; i < a->nb_ports && !err; i++) {
		before[i] = haul_port_queues(a->ports[i]);
		err = haul_port_set_queues(a->ports[i], queues, errbuf, errlen);
	}
	if (err)
		change_back(a, before, i - 1);
	/* Also then devices may be other ones. */
	failed = haul_io_reshape(app->io, err ? line : errbuf, err ? sizeof(line) : errlen);
	if (failed) {
		a->stop_err = failed;
		haul_app_end(app);
	}
	if (!err && !failed)
		app->rx_queues = queues;
	return err ? err : failed;
}
