/* SPDX-License-Identifier: BSD-3-Clause */
/* Signals that are waited for instead of handled. */
#include "signals.h"

#include <signal.h>
#include <time.h>

static sigset_t asked_to_end(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	return set;
}

void app_signals_block(void)
{
	sigset_t set = asked_to_end();

	pthread_sigmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

int app_signals_wait(uint64_t deadline)
{
	sigset_t set = asked_to_end();
	uint64_t now = haul_now();

	/* TAP's real-time signals may interrupt the wait: go on waiting then. */
	do {
		uint64_t left = deadline > now ? deadline - now : 0;
		struct timespec ts = {
			.tv_sec = (time_t)(left / HAUL_S),
			.tv_nsec = (long)(left % HAUL_S),
		};
		int sig = sigtimedwait(&set, NULL, &ts);

		if (sig > 0)
			return sig;
		now = haul_now();
	} while (now < deadline);
	return 0;
}
