/* SPDX-License-Identifier: BSD-3-Clause */
#include "close.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <haul-dpdk/eal.h>

#include "health/health.h"
#include "process/hand_over.h"
#include "process/readers.h"
#include "process/say.h"
#include "process/signals.h"
#include "report/capture.h"
#include "report/counters.h"
#include "report/report.h"
#include "report/trace.h"
#include "telemetry/figures.h"
#include "telemetry/metrics.h"
#include "telemetry/scrape.h"

#define CARRIERS_TIMEOUT (4 * HAUL_S) /* for coroutines of the program to clean up */

static void close_ports(struct hauli_app *a)
{
	while (a->nb_ports > 0) {
		struct haul_port *port = a->ports[--a->nb_ports];

		hauli_app_signals_phase(
			HAULI_APP_PHASE_WORKS, "closing port ", haul_port_spec(port));
		haul_port_close(port);
	}
}

/*
 * Ends the process while a carrier still runs, which may use the objects that a shutdown would
 * free. Closes the ports if no poller uses them, so that kernel interfaces return to their old
 * state.
 */
static void leave(struct hauli_app *a)
{
	if (a->stop_err == -ETIMEDOUT) {
		haul_dump(a->pub.rt, stderr);
		fprintf(stderr,
			"%s: note: the ports were not closed; their traces may remain: an XDP "
			"program, promiscuous mode, a socket\n",
			a->pub.program->name);
	} else {
		close_ports(a);
	}
	hauli_app_signals_phase(HAULI_APP_PHASE_WRITES, "writing", "");
	fflush(stdout);
	_Exit(HAUL_APP_FAILED);
}

int hauli_app_close(struct hauli_app *a, int rc)
{
	char errbuf[512];
	int err;

	hauli_readers_end();
	hauli_scrape_end();
	hauli_hand_over_end(a);
	hauli_figures_forget();
	hauli_metrics_forget();
	if (a->stop_err == -ETIMEDOUT)
		leave(a);
	if (a->pub.rt) {
		rc = hauli_app_trace_end(a, rc);
		hauli_app_signals_phase(HAULI_APP_PHASE_WORKS, "stopping carriers", "");
		err = haul_stop(a->pub.rt, a->stop_err ? HAULI_APP_STOP_TIMEOUT : CARRIERS_TIMEOUT);
		if (err) {
			hauli_app_fail(a, err, "some coroutines have not ended, see above");
			leave(a);
		}
	}
	hauli_app_signals_phase(HAULI_APP_PHASE_WORKS, "waiting for --on-health", "");
	hauli_health_end();
	close_ports(a);
	if (a->pub.io) {
		err = haul_io_free(a->pub.io, errbuf, sizeof(errbuf));
		if (err)
			rc = hauli_app_fail(a, err, errbuf);
	}
	a->pub = (struct haul_app){.program = a->pub.program,
		.arg = a->pub.arg,
		.pool = a->pub.pool,
		.nb_ports = a->pub.nb_ports,
		.burst = a->pub.burst};
	hauli_app_report_free(a);
	hauli_app_counters_fini();
	hauli_app_capture_free();
	hauli_app_signals_phase(HAULI_APP_PHASE_WORKS, "ending DPDK", "");
	rte_mempool_free(a->pub.pool);
	a->pub.pool = NULL;
	if (a->has_eal)
		haul_eal_fini();
	haul_plan_destroy(a->plan);
	/* The phase lasts until the end of the program: hauli_app_output_end() writes the rest of
	 * the buffer. */
	hauli_app_signals_phase(HAULI_APP_PHASE_WRITES, "writing", "");
	return rc;
}
