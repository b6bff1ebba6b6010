/* SPDX-License-Identifier: BSD-3-Clause */
/* Pollers that stop and start while the program runs. */
#include "pause.h"

#include <errno.h>

#include "process/say.h"
#include "process/signals.h"
#include "process/watch.h"
#include "report/cancelled.h"

int hauli_app_stop_pollers(struct hauli_app *a, char *errbuf, size_t errlen)
{
	hauli_app_signals_phase(HAULI_APP_PHASE_WORKS, "stopping pollers", "");
	a->stop_err = haul_io_stop(a->pub.io, HAULI_APP_STOP_TIMEOUT, errbuf, errlen);
	if (a->stop_err != -ETIMEDOUT)
		hauli_app_cancelled_tell(a);
	return a->stop_err;
}

int haul_app_pause(struct haul_app *app)
{
	struct hauli_app *a = &hauli_app_state;
	char errbuf[512];

	if (a->paused)
		return HAUL_APP_DONE;
	a->paused = true;
	if (app->io && hauli_app_stop_pollers(a, errbuf, sizeof(errbuf)) != 0)
		haul_app_end(app); /* the second stop, at the end, prints the error */
	hauli_app_watch_phase();
	if (!a->stop_err)
		return HAUL_APP_DONE;
	return HAUL_APP_FAILED;
}

int haul_app_resume(struct haul_app *app, const struct haul_io_opts *change)
{
	struct hauli_app *a = &hauli_app_state;
	char errbuf[512];
	int err;

	if (!a->paused || a->stop_err || a->ends)
		return a->stop_err || a->ends ? HAUL_APP_FAILED : HAUL_APP_DONE;
	hauli_app_signals_phase(HAULI_APP_PHASE_WORKS, "starting pollers", "");
	err = app->io ? haul_io_resume(app->io, change, errbuf, sizeof(errbuf)) : 0;
	hauli_app_watch_phase();
	if (err)
		return hauli_app_fail(a, err, errbuf);
	if (change)
		a->io_opts = *change;
	a->pub.burst = a->io_opts.burst;
	a->paused = false;
	a->resumed = true;
	return HAUL_APP_DONE;
}
