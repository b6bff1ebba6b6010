/* SPDX-License-Identifier: BSD-3-Clause */
/* A poller that blocks on an eventfd: its input are the counts written to a second eventfd. Calls
 * of haul/fd.h on its carrier end its wait too. */
#ifndef HAUL_TESTS_EVPOLLER_H
#define HAUL_TESTS_EVPOLLER_H

#include <poll.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <haul/haul.h>

#include "base/clock.h"

struct evpoller {
	int wake; /* written by the wakeup */
	int source; /* written by the thread that plays the NIC */
	int fds; /* haul_poller_fd() */
	bool without_fds; /* does not ask for it */
	haul_fn *on_input;
	void (*between)(struct evpoller *p); /* called between try_park and can_park; or NULL */
	void *arg;
	atomic_ulong wakeups, waits;
	atomic_bool could_not_park; /* haul_poller_can_park() was false after a park */
	atomic_bool blocked; /* in its wait */
};

static inline void evpoller_open(struct evpoller *p)
{
	p->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	p->source = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	p->fds = -1;
}

static inline void evpoller_close(struct evpoller *p)
{
	close(p->wake);
	close(p->source);
}

static inline void evpoller_wakeup(void *arg)
{
	struct evpoller *p = arg;

	p->wakeups++;
	eventfd_write(p->wake, 1);
}

static inline bool evpoller_take(struct evpoller *p)
{
	eventfd_t n;

	if (eventfd_read(p->source, &n) != 0)
		return false;
	if (p->on_input)
		for (; n > 0; n--)
			haul_spawn(NULL, p->on_input, p->arg, NULL);
	return true;
}

static inline void evpoller_wait(struct evpoller *p)
{
	struct pollfd fds[] = {{p->wake, POLLIN, 0}, {p->source, POLLIN, 0}, {p->fds, POLLIN, 0}};
	uint64_t until = haul_poller_deadline();
	uint64_t now = haul_now();
	uint64_t left = until > now ? until - now : 0;
	struct timespec t = {.tv_sec = (time_t)(left / HAUL_S), .tv_nsec = (long)(left % HAUL_S)};
	eventfd_t n;

	p->waits++;
	p->blocked = true;
	ppoll(fds, 3, until == HAUL_FOREVER ? NULL : &t, NULL);
	p->blocked = false;
	eventfd_read(p->wake, &n);
}

static inline void *evpoller_run(void *arg)
{
	struct evpoller *p = arg;
	bool io = false;

	while (haul_maybe_yield(io)) {
		io = evpoller_take(p);
		if (!p->without_fds)
			p->fds = haul_poller_fd();
		if (io || !haul_poller_try_park())
			continue;
		if (p->between)
			p->between(p);
		io = evpoller_take(p);
		if (!io && haul_poller_can_park())
			evpoller_wait(p);
		else
			p->could_not_park = true;
		haul_poller_unpark();
	}
	return p;
}

static inline int evpoller_register(
	struct haul_carrier *c, struct evpoller *p, struct haul_coro **poller)
{
	struct haul_poller_opts opts = {.name = "eventfd", .wakeup = evpoller_wakeup};

	return haul_poller_register(c, poller, evpoller_run, p, &opts);
}

#endif
