/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/cancelled.h"

#include <inttypes.h>
#include <stdio.h>

#include "process/say.h"

static void tell_site(const struct hauli_app *a, const struct haul_io_cancelled *c)
{
	char line[256];

	if (c->at[0])
		snprintf(line, sizeof(line), "  %" PRIu64 " waited at %s", c->handlers, c->at);
	else
		snprintf(line, sizeof(line), "  %" PRIu64 " did not wait, or waited elsewhere",
			c->handlers);
	hauli_app_note(a, line);
}

void hauli_app_cancelled_tell(struct hauli_app *a)
{
	struct haul_io_cancelled cancelled[HAUL_IO_CANCELLED_MAX];
	uint64_t sum;
	unsigned n = haul_io_get_cancelled(a->pub.io, cancelled, &sum);
	char line[192];

	if (sum == a->cancelled)
		return;
	snprintf(line, sizeof(line),
		"%" PRIu64 " handlers had to be cancelled: they had not ended %g s after the end "
		"of the pollers%s",
		sum - a->cancelled, (double)HAULI_APP_STOP_TIMEOUT / 1e9,
		a->cancelled > 0 ? "; with those of earlier stops," : "");
	hauli_app_note(a, line);
	for (unsigned i = 0; i < n; i++)
		tell_site(a, &cancelled[i]);
	a->cancelled = sum;
}

void hauli_app_cancelled_json(const struct hauli_app *a, struct haul_app_json *object)
{
	struct haul_io_cancelled cancelled[HAUL_IO_CANCELLED_MAX];
	struct haul_app_json *all = haul_app_json_object(object, "cancelled"), *sites, *site;
	uint64_t sum = 0;
	/* While the pollers run, those of the last stop are known as a sum only. */
	unsigned n = hauli_app_pollers_have_ended(a)
		? haul_io_get_cancelled(a->pub.io, cancelled, &sum)
		: 0;

	haul_app_json_number(all, "handlers", (int64_t)a->cancelled);
	sites = haul_app_json_array(all, "sites");
	for (unsigned i = 0; i < n; i++) {
		site = haul_app_json_object(sites, NULL);
		haul_app_json_number(site, "handlers", (int64_t)cancelled[i].handlers);
		haul_app_json_text(site, "at", cancelled[i].at);
	}
}

int hauli_app_cancelled_exit(const struct hauli_app *a, int rc)
{
	return a->strict && a->cancelled > 0 && rc == HAUL_APP_DONE ? HAUL_APP_CANCELLED : rc;
}
