/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/poll.h>
#include <unistd.h>

static bool ends_by_sigpipe; /* SIGPIPE was not ignored when the program started */

void hauli_app_output_begin(void)
{
	struct sigaction sa;
	int fd;

	ends_by_sigpipe = sigaction(SIGPIPE, NULL, &sa) == 0 && sa.sa_handler == SIG_DFL;
	/* Opened for reading, so that output to a closed stdout remains an error. */
	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

bool hauli_app_output_is_lost(void)
{
	return ferror(stdout);
}

static bool reader_has_gone(void)
{
	struct pollfd out = {.fd = STDOUT_FILENO};

	return poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}

int hauli_app_output_end(const struct haul_app_program *program, int rc)
{
	bool lost = ferror(stdout);
	bool gone = reader_has_gone();
	const char *why = "";

	if (fclose(stdout) != 0)
		why = strerror(errno);
	else if (!lost)
		return rc;
	if (gone && ends_by_sigpipe && rc == HAUL_APP_DONE) {
		signal(SIGPIPE, SIG_DFL);
		raise(SIGPIPE);
	}
	if (gone)
		why = "its reader has gone";
	/* The errno of an earlier failure is lost: the line then names no reason. */
	haul_app_say(
		program, "output is lost: stdout cannot be written%s%s", why[0] ? ": " : "", why);
	return HAUL_APP_FAILED;
}
