/* SPDX-License-Identifier: BSD-3-Clause */
#include "unattended.h"

#include <errno.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "../testpmd_args.h"
#include "show_port.h"

#define CLEAR "\033[2J\033[1;1H"

static int timer = -1;

static void take_key(struct haul_app *app, int fd, void *arg)
{
	char key;

	if (read(fd, &key, 1) < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	haul_app_watch(app, fd, NULL, NULL);
	haul_app_end(app);
}

static void print_statistics(struct haul_app *app, int fd, void *arg)
{
	uint64_t periods;

	(void)!read(fd, &periods, sizeof(periods));
	if (!fwd_testpmd_speaks())
		return;
	printf("%s\nPort statistics ====================================",
		isatty(STDOUT_FILENO) ? CLEAR : "");
	for (unsigned i = 0; i < app->nb_ports; i++)
		fwd_show_port_stats(app->ports[i], i, stdout);
	fflush(stdout);
}

static int every(struct haul_app *app, unsigned seconds)
{
	const struct itimerspec when = {{seconds, 0}, {seconds, 0}};

	timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (timer < 0 || timerfd_settime(timer, 0, &when, NULL) != 0) {
		haul_app_say(app->program, "no timer for --stats-period: %m");
		return HAUL_APP_FAILED;
	}
	haul_app_watch(app, timer, print_statistics, NULL);
	return HAUL_APP_DONE;
}

int fwd_unattended_begin(struct haul_app *app)
{
	unsigned seconds = fwd_testpmd_period_s();

	if (seconds)
		return every(app, seconds);
	if (fwd_testpmd_speaks())
		printf("Press enter to exit\n");
	fflush(stdout);
	haul_app_watch(app, STDIN_FILENO, take_key, NULL);
	return HAUL_APP_DONE;
}

void fwd_unattended_end(void)
{
	if (timer >= 0)
		close(timer);
	timer = -1;
}
