/* SPDX-License-Identifier: BSD-3-Clause */
#include "../prompt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include <haul-app/file.h>

#include "../forward.h"
#include "../prompt_options.h"
#include "../testpmd_args.h"
#include "chosen_xstats.h"
#include "console.h"
#include "control.h"
#include "ports.h"
#include "quit.h"
#include "recording.h"
#include "statistics.h"
#include "unattended.h"

#define FILE_MAX (UINT64_C(64) << 20) /* bytes of --cmdline-file */

static const struct fwd_prompt_args *const args = &fwd_prompt_args;
static struct fwd_console keyboard;
static struct termios before;
static bool has_prompt; /* the user was asked for commands */
static bool is_raw; /* the terminal is in another mode than `before` */

int fwd_prompt_parsed(struct haul_app *app)
{
	if (args->testpmd)
		return haul_app_wrong(
			app->program, "--testpmd: give it first, and then what dpdk-testpmd takes");
	if (!fwd_prompt_reports() || fwd_testpmd_is_meant()) {
		haul_app_set_period(app, 0);
		haul_app_plain_reports(app); /* the terminal is the prompt's */
	}
	app->leave_out = args->interactive && fwd_testpmd_is_meant();
	if (args->file || args->isolated || !fwd_prompt_starts() || app->leave_out)
		return haul_app_pause(app);
	return HAUL_APP_DONE;
}

/* Runs the lines of the file. False after lines about those that failed. */
static bool run_lines(struct haul_app *app, FILE *file, struct fwd_console *c)
{
	bool good = true;
	char *line = NULL;
	size_t size = 0;
	ssize_t len;
	unsigned n = 0;

	while (!haul_app_is_ending(app) && (len = getline(&line, &size, file)) >= 0) {
		n++;
		line[strcspn(line, "\r\n")] = '\0';
		fwd_console_print(c, line, strlen(line));
		fwd_console_print(c, "\n", 1);
		if ((size_t)len >= sizeof(c->line) || !fwd_console_run(c, line)) {
			haul_app_say(app->program, "%s:%u: failed: %s", args->file, n, line);
			good = false;
		}
		fwd_console_print_prompt(c);
	}
	free(line);
	return good;
}

static int run_file(struct haul_app *app)
{
	struct haul_app_input in;
	struct fwd_console c;
	char errbuf[256];
	bool good;
	int err;

	if (haul_app_input_open(&in, args->file, FILE_MAX, errbuf, sizeof(errbuf)) != 0)
		return haul_app_wrong(app->program, "--cmdline-file %s: %s", args->file, errbuf);
	printf("Read CLI commands from %s\n", args->file);
	fflush(stdout);
	fwd_console_init(&c, app, STDOUT_FILENO, false);
	good = run_lines(app, in.file, &c);
	if (!haul_app_is_ending(app))
		fwd_console_print(&c, "\n", 1);
	fwd_console_fini(&c);
	err = haul_app_input_close(&in, errbuf, sizeof(errbuf));
	if (err && !haul_app_is_ending(app))
		return haul_app_wrong(app->program, "--cmdline-file %s: %s", args->file, errbuf);
	/* A user may correct it; without one, a wrong file is a wrong argument. */
	return good || args->interactive ? HAUL_APP_DONE : HAUL_APP_USAGE;
}

static void restore_terminal(void)
{
	if (is_raw)
		tcsetattr(STDIN_FILENO, TCSANOW, &before);
	is_raw = false;
}

/* For ways out of the process on which it alone runs. */
static void abandon_terminal(void)
{
	if (is_raw)
		tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

/* Lets librte_cmdline edit lines and echo them. Ctrl-C remains a signal, which ends the program. */
static void take_terminal(void)
{
	struct termios raw;

	if (!isatty(STDIN_FILENO) || tcgetattr(STDIN_FILENO, &before) != 0)
		return;
	raw = before;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	is_raw = true;
	atexit(restore_terminal);
	haul_app_before_death(abandon_terminal);
	is_raw = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
}

static void read_keyboard(struct haul_app *app, int fd, void *arg)
{
	char text[256];
	ssize_t n = read(fd, text, sizeof(text));

	if (n > 0 && fwd_console_type(&keyboard, text, (size_t)n) && !keyboard.gone)
		return;
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	haul_app_watch(app, fd, NULL, NULL);
	haul_app_end(app);
}

/* What testpmd says when it starts to forward by itself, and scripts look for. */
static void print_configuration(struct haul_app *app)
{
	const struct fwd_call call = {.app = app, .out = stdout};

	fwd_print_forwarding(&call);
	fwd_print_rxtx(&call);
	fflush(stdout);
}

int fwd_prompt_started(struct haul_app *app)
{
	int rc = HAUL_APP_DONE;

	fwd_chosen_xstats_set(args->display_xstats);
	if (args->control)
		rc = fwd_control_open(app, args->control);
	if (rc == HAUL_APP_DONE && args->isolated)
		rc = fwd_ports_isolate(app);
	if (rc == HAUL_APP_DONE && args->ports_stopped && !fwd_prompt_starts())
		rc = fwd_ports_stop(app);
	else if (rc == HAUL_APP_DONE && app->leave_out)
		rc = fwd_ports_stop_refused(app);
	if (rc == HAUL_APP_DONE && args->file)
		rc = run_file(app);
	if (rc != HAUL_APP_DONE || haul_app_is_ending(app))
		return rc;
	if (haul_app_is_paused(app) && fwd_prompt_starts() && fwd_ports_are_started(app, stderr)) {
		fwd_recording_start(app);
		rc = fwd_start(app, fwd_tx_first());
	}
	if (rc == HAUL_APP_DONE && fwd_testpmd_speaks() && !haul_app_is_paused(app))
		print_configuration(app);
	if (rc == HAUL_APP_DONE && fwd_testpmd_is_meant() && !args->interactive)
		return fwd_unattended_begin(app);
	if (rc != HAUL_APP_DONE || !args->interactive)
		return rc;
	take_terminal();
	fflush(stdout);
	has_prompt = true;
	fwd_console_init(&keyboard, app, STDOUT_FILENO, true);
	haul_app_watch(app, STDIN_FILENO, read_keyboard, NULL);
	return HAUL_APP_DONE;
}

void fwd_prompt_closed(void)
{
	if (keyboard.cl)
		fwd_console_fini(&keyboard);
	restore_terminal();
	haul_app_before_death(NULL);
	fwd_unattended_end();
	fwd_control_close();
	fwd_quit_print_closed(has_prompt && isatty(STDOUT_FILENO));
}
