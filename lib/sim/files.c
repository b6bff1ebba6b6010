/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits for descriptors, which are real: whoever finds none ready waits until a simulated thread
 * has done something to any descriptor, and looks again.
 */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <haul/base.h>

#include "sim/real.h"
#include "sim/world.h"

static const char changes; /* what those wait for */

static uint64_t in_ms(int ms)
{
	return ms < 0 ? HAULI_NEVER : hauli_sim_now() + (uint64_t)ms * HAUL_MS;
}

static uint64_t in_time(const struct timespec *t)
{
	return t ? hauli_sim_now() + (uint64_t)t->tv_sec * HAUL_S + (uint64_t)t->tv_nsec
		 : HAULI_NEVER;
}

/* True: look again. */
static bool wait_until(uint64_t until)
{
	return until > hauli_sim_now() && hauli_sim_wait(&changes, until);
}

static void changed(void)
{
	int err = errno;

	if (hauli_sim_is_on())
		hauli_sim_wake(&changes, UINT32_MAX);
	errno = err;
}

HAULI_SIM_REPLACED int poll(struct pollfd *fds, nfds_t n, int ms)
{
	uint64_t until;
	int found;

	if (!hauli_sim_is_on())
		return HAULI_SIM_REAL(poll)(fds, n, ms);
	until = in_ms(ms);
	while ((found = HAULI_SIM_REAL(poll)(fds, n, 0)) == 0 && wait_until(until))
		;
	return found;
}

HAULI_SIM_REPLACED int ppoll(
	struct pollfd *fds, nfds_t n, const struct timespec *t, const sigset_t *signals)
{
	static const struct timespec none;
	uint64_t until;
	int found;

	if (!hauli_sim_is_on())
		return HAULI_SIM_REAL(ppoll)(fds, n, t, signals);
	until = in_time(t);
	while ((found = HAULI_SIM_REAL(ppoll)(fds, n, &none, signals)) == 0 && wait_until(until))
		;
	return found;
}

HAULI_SIM_REPLACED int epoll_wait(int fd, struct epoll_event *events, int n, int ms)
{
	uint64_t until;
	int found;

	if (!hauli_sim_is_on())
		return HAULI_SIM_REAL(epoll_wait)(fd, events, n, ms);
	until = in_ms(ms);
	while ((found = HAULI_SIM_REAL(epoll_wait)(fd, events, n, 0)) == 0 && wait_until(until))
		;
	return found;
}

HAULI_SIM_REPLACED int epoll_pwait2(int fd, struct epoll_event *events, int n,
	const struct timespec *t, const sigset_t *signals)
{
	uint64_t until;
	int found;

	if (!hauli_sim_is_on())
		return HAULI_SIM_REAL(epoll_pwait2)(fd, events, n, t, signals);
	until = in_time(t);
	while ((found = HAULI_SIM_REAL(epoll_wait)(fd, events, n, 0)) == 0 && wait_until(until))
		;
	return found;
}

HAULI_SIM_REPLACED ssize_t write(int fd, const void *buf, size_t n)
{
	ssize_t done = HAULI_SIM_REAL(write)(fd, buf, n);

	changed();
	return done;
}

HAULI_SIM_REPLACED ssize_t read(int fd, void *buf, size_t n)
{
	ssize_t done = HAULI_SIM_REAL(read)(fd, buf, n);

	changed();
	return done;
}

HAULI_SIM_REPLACED int eventfd_write(int fd, eventfd_t value)
{
	return write(fd, &value, sizeof(value)) == sizeof(value) ? 0 : -1;
}

HAULI_SIM_REPLACED int close(int fd)
{
	int rc = HAULI_SIM_REAL(close)(fd);

	changed();
	return rc;
}
