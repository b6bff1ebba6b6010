/* SPDX-License-Identifier: BSD-3-Clause */
/* The main functions of programs: from the first byte of the command line to the exit code. */
#include <haul-app/app.h>

#include "check.h"
#include "close.h"
#include "health/health.h"
#include "open.h"
#include "options/command.h"
#include "process/output.h"
#include "process/secure.h"
#include "process/signals.h"
#include "process/watch.h"
#include "report/cancelled.h"
#include "report/counters.h"
#include "run.h"
#include "screen/screen.h"
#include "settings.h"

/* From the parsed options to the end of the pollers. Returns an exit code. */
static int work(struct hauli_app *a)
{
	int rc = hauli_app_settings_check(a);

	if (rc != HAUL_APP_DONE)
		return rc;
	a->in_hooks = true;
	if (a->hooks->parsed)
		rc = hauli_check_rc(a, "parsed", a->hooks->parsed(&a->pub, &a->io_opts));
	if (rc == HAUL_APP_DONE)
		rc = hauli_check_hooks(a);
	if (rc == HAUL_APP_DONE)
		rc = hauli_app_screen_choose(a);
	if (rc == HAUL_APP_DONE)
		rc = hauli_health_begin(a);
	if (rc == HAUL_APP_DONE)
		rc = hauli_app_open(a);
	if (rc == HAUL_APP_DONE)
		rc = hauli_app_counters_init(a);
	return rc == HAUL_APP_DONE ? hauli_app_run(a) : rc;
}

int haul_app_main(const struct haul_app_program *program, const struct haul_app_hooks *hooks,
	int argc, char **argv)
{
	struct hauli_app *a = &hauli_app_state;
	struct hauli_command command;
	int rc;

	hauli_app_signals_block(hooks->reload != NULL);
	rc = hauli_app_secure_begin(program);
	if (rc != HAUL_APP_DONE)
		return rc;
	if (a->pub.program) {
		haul_app_say(program, "haul_app_main() is for one call per process");
		return HAUL_APP_FAILED;
	}
	hauli_app_output_begin();
	hauli_app_signals_init(program->name);
	a->pub.program = program;
	a->pub.arg = hooks->arg;
	a->main = pthread_self();
	a->hooks = hooks;
	command = hauli_app_settings(a);
	rc = hauli_check_options(&command);
	if (rc == HAUL_APP_DONE)
		rc = hauli_options_parse(&command, argc, argv);
	if (rc < 0)
		rc = work(a);
	rc = hauli_app_cancelled_exit(a, hauli_app_close(a, rc));
	if (a->in_hooks && hooks->closed)
		hooks->closed(&a->pub);
	hauli_app_watch_fini();
	hauli_options_free(&command);
	return hauli_app_output_end(program, rc);
}

int haul_app_command(
	const struct haul_app_program *program, int (*body)(void), int argc, char **argv)
{
	struct hauli_command command = hauli_command(program, NULL, NULL);
	int rc = hauli_app_secure_begin(program);

	if (rc != HAUL_APP_DONE)
		return rc;
	hauli_app_output_begin();
	rc = hauli_check_options(&command);
	if (rc == HAUL_APP_DONE)
		rc = hauli_options_parse(&command, argc, argv);
	if (rc < 0)
		rc = body();
	hauli_options_free(&command);
	return hauli_app_output_end(program, rc);
}
