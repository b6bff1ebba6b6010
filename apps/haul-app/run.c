/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a packet program: from the start of its pollers to their end. */
#include "run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>

#include "carriers.h"
#include "check.h"
#include "health/health.h"
#include "pause.h"
#include "process/balance.h"
#include "process/hand_over.h"
#include "process/lost.h"
#include "process/output.h"
#include "process/readers.h"
#include "process/say.h"
#include "process/signals.h"
#include "process/watch.h"
#include "report/capture.h"
#include "report/latency.h"
#include "report/report.h"
#include "report/report_json.h"
#include "screen/screen.h"
#include "telemetry/command.h"
#include "telemetry/figures.h"
#include "telemetry/scrape.h"

#define COUNT_PERIOD (5 * HAUL_MS) /* between checks of --packets */
#define HEALTH_PERIOD HAUL_S /* between checks of the interfaces: a few system calls each */

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Packets that count for --packets: those that arrived, also if the port dropped them as malformed
 * or too long, or those that a source has sent. */
static uint64_t counted(const struct hauli_app *a)
{
	struct haul_io_stats st;
	uint64_t n = 0;
	unsigned i;

	for (i = 0; i < a->nb_ports; i++) {
		haul_io_get_stats(a->pub.io, i, HAUL_ALL, &st);
		n += a->io_opts.source ? st.tx_packets : st.rx_packets + st.rx_errors;
	}
	return n;
}

static bool is_healthy(struct hauli_app *a, const char **why)
{
	if (!hauli_app_lost_look(a, why))
		return false;
	/* A port may have got its fault just now: the next look has it. */
	return a->paused || haul_io_is_healthy(a->pub.io, why) || hauli_app_lost_any(a);
}

/* Readers enter while it is written, which may block, but not while it is made: that is what other
 * readers do, and a hook of the program's that may change what its own commands read. */
static void print_report(struct hauli_app *a)
{
	char *text;
	size_t len;

	hauli_app_signals_phase(HAULI_APP_PHASE_WRITES, "writing a report", "");
	if (hauli_app_screen_is_on()) {
		hauli_app_screen_period(a);
	} else if (!a->paused) {
		text = hauli_app_report_period(a, &len);
		hauli_readers_admit();
		(void)!fwrite(text, 1, len, a->out); /* hauli_app_output_end() tells of a loss */
		fflush(a->out);
		hauli_readers_bar();
		free(text);
	}
	hauli_app_watch_end_writing();
}

/* Runs until a signal, haul_app_end(), the end of --duration or --packets, or the loss of the last
 * interface. */
static int watch(struct hauli_app *a)
{
	uint64_t end_at = a->duration ? a->began_at + a->duration : HAUL_FOREVER;
	uint64_t reported_at = a->began_at;
	uint64_t look = a->packets ? COUNT_PERIOD : earlier(HEALTH_PERIOD, hauli_health_period(a));
	const char *why;
	uint64_t now, report_at;

	for (;;) {
		now = haul_now();
		report_at = a->period ? reported_at + a->period : HAUL_FOREVER;
		if (!hauli_app_watch_wait(a,
			    earlier(earlier(end_at, report_at),
				    earlier(now + look, hauli_app_balance_next(a)))))
			return HAUL_APP_DONE;
		now = haul_now();
		hauli_health_look(a);
		hauli_app_balance(a, now);
		if (!is_healthy(a, &why))
			return hauli_app_fail(a, -EIO, why);
		if (!hauli_app_capture_look(a))
			return HAUL_APP_FAILED;
		if (now >= end_at || (a->packets && counted(a) >= a->packets))
			return HAUL_APP_DONE;
		hauli_figures_remember(a);
		if (now >= report_at) {
			print_report(a);
			/* Skips reports that were due while the process was stopped or blocked. */
			reported_at = report_at;
			if (reported_at + a->period <= now)
				reported_at = haul_now();
		}
		if (hauli_app_output_is_lost())
			return HAUL_APP_DONE; /* hauli_app_output_end() reports it */
	}
}

/* Checks the ports after the last packet: the end of a capture file may be missing. The line of one
 * that was lost before is repeated. */
static int check_ports(const struct hauli_app *a)
{
	const char *fault;
	unsigned i;

	for (i = 0; i < a->nb_ports; i++) {
		fault = haul_port_fault(a->ports[i]);
		if (fault[0])
			return hauli_app_fail(a, -EIO, fault);
	}
	return HAUL_APP_DONE;
}

/* SIGHUP. Several that came meanwhile are one. */
static void reload(struct haul_app *app, int fd, void *arg)
{
	struct hauli_app *a = arg;
	eventfd_t n;

	if (eventfd_read(fd, &n) != 0)
		return;
	hauli_health_reloads(true);
	a->hooks->reload(app);
	hauli_health_reloads(false);
}

static void report(struct hauli_app *a)
{
	struct haul_app_json *object;

	hauli_app_signals_phase(HAULI_APP_PHASE_WRITES, "writing the report", "");
	if (!a->json && a->hooks->totals) {
		a->hooks->totals(&a->pub, a->out);
	} else if (!a->json) {
		hauli_app_report_totals(a, a->out);
	} else {
		object = haul_app_json_begin();
		if (a->hooks->json)
			a->hooks->json(&a->pub, object);
		hauli_app_report_json(a, object);
		haul_app_json_end(object, stdout);
	}
	hauli_app_watch_end_writing();
}

/* Prints stack usage, and the coroutines that are left: those of the program. */
static void report_stacks(struct hauli_app *a)
{
	if (!a->stack_marks)
		return;
	hauli_app_signals_phase(HAULI_APP_PHASE_WRITES, "writing the report", "");
	fputs("\nStacks:\n", a->out);
	haul_dump(a->pub.rt, a->out);
	hauli_app_watch_end_writing();
}

/* After a signal: serves on, until those who are told (health.h) send nothing any more; a second
 * signal ends the process. */
static void drain(struct hauli_app *a)
{
	const struct timespec tick = {.tv_nsec = HAUL_MS};
	const uint64_t end = haul_now() + a->withdraw;
	const char *why;

	if (a->withdraw == 0 || a->paused || !hauli_app_signals_came())
		return;
	hauli_app_signals_phase(HAULI_APP_PHASE_WORKS, "draining", "");
	hauli_app_signals_extend(a->withdraw);
	hauli_health_drain(a, a->withdraw);
	while (haul_now() < end && haul_io_is_healthy(a->pub.io, &why)) {
		hauli_readers_admit();
		nanosleep(&tick, NULL);
		hauli_readers_bar();
	}
}

/* Waits until the program lets its pollers end, or for a signal; if a signal has ended the program,
 * a second one ends the process. */
static void wait_for_end(struct hauli_app *a)
{
	const struct timespec tick = {.tv_nsec = HAUL_MS};
	bool ended = hauli_app_signals_came();
	const char *why;

	hauli_app_signals_phase(HAULI_APP_PHASE_WORKS, "waiting for the last packets", "");
	while (!a->hooks->may_end(&a->pub) && haul_io_is_healthy(a->pub.io, &why) &&
		(ended || !hauli_app_signals_came())) {
		hauli_readers_admit();
		nanosleep(&tick, NULL);
		hauli_readers_bar();
	}
}

static int stop_pollers(struct hauli_app *a, int rc)
{
	char errbuf[512];

	if (hauli_app_stop_pollers(a, errbuf, sizeof(errbuf)) != 0)
		rc = hauli_app_fail(a, a->stop_err, errbuf);
	a->ended_at = haul_now(); /* packets are handled and sent until here */
	rc = hauli_app_capture_end(a, rc);
	return rc == HAUL_APP_DONE ? check_ports(a) : rc;
}

static int start_pollers(struct hauli_app *a)
{
	char errbuf[512];
	int err, rc = hauli_app_capture_begin(a);

	if (rc != HAUL_APP_DONE)
		return rc;
	a->io_opts.ports = a->ports;
	a->io_opts.nb_ports = a->nb_ports;
	a->io_opts.pool = a->pub.pool;
	a->io_opts.stopped = a->paused;
	rc = hauli_hand_over_take(a);
	if (rc != HAUL_APP_DONE)
		return hauli_app_capture_end(a, rc);
	err = haul_io_start(&a->pub.io, a->pub.rt, &a->io_opts, errbuf, sizeof(errbuf));
	if (err)
		return hauli_app_capture_end(a, hauli_app_fail(a, err, errbuf));
	hauli_app_note(a, haul_io_notice(a->pub.io));
	hauli_telemetry_set_runtime(a->pub.program, a->pub.rt);
	a->began_at = haul_now();
	rc = hauli_app_balance_begin(a);
	if (rc != HAUL_APP_DONE)
		return rc;
	err = a->metrics ? hauli_scrape_begin(a->metrics, errbuf, sizeof(errbuf)) : 0;
	if (err)
		return hauli_app_fail(a, err, errbuf);
	return HAUL_APP_DONE;
}

static int end_pollers(struct hauli_app *a, int rc, bool began)
{
	bool handed_over = hauli_hand_over_begins();

	if (handed_over)
		hauli_hand_over_leave(a);
	else if (rc == HAUL_APP_DONE && began)
		drain(a);
	if (!handed_over && rc == HAUL_APP_DONE && began && a->hooks->may_end)
		wait_for_end(a);
	rc = stop_pollers(a, rc);
	if (handed_over) {
		hauli_hand_over_done(a);
		hauli_health_handed_over(a);
	} else {
		hauli_health_stopped(a);
	}
	return rc;
}

int hauli_app_run(struct hauli_app *a)
{
	int rc = HAUL_APP_DONE;
	bool began;

	if (a->hooks->opened)
		rc = hauli_check_rc(a, "opened", a->hooks->opened(&a->pub));
	if (rc == HAUL_APP_DONE)
		rc = hauli_app_carriers_begin(a);
	if (rc == HAUL_APP_DONE)
		rc = start_pollers(a);
	if (a->pub.io) {
		if (rc == HAUL_APP_DONE && a->hooks->started)
			rc = hauli_check_rc(a, "started", a->hooks->started(&a->pub));
		if (rc == HAUL_APP_DONE)
			rc = hauli_hand_over_listen(a);
		began = rc == HAUL_APP_DONE;
		if (began) {
			if (a->hooks->reload)
				(void)haul_app_watch(
					&a->pub, hauli_app_signals_reload_fd(), reload, a);
			hauli_app_screen_begin(a);
			hauli_health_look(a);
			rc = watch(a);
		}
		hauli_app_screen_end(a);
		rc = end_pollers(a, rc, began);
		/* Reports also if a wrong command ends a program that has forwarded. */
		if (began || a->resumed) {
			report(a);
			rc = rc == HAUL_APP_DONE ? hauli_latency_write(a) : rc;
		}
	}
	hauli_app_balance_end();
	if (a->stop_err != -ETIMEDOUT) {
		hauli_app_carriers_end(a);
		report_stacks(a);
	}
	return rc;
}
