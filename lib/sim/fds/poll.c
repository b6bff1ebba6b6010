/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits for any of some descriptors; the real ones of them the kernel looks at. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/time.h>

#include "sim/fds/table.h"
#include "sim/fds/when.h"
#include "sim/real.h"
#include "sim/world.h"

#define FEW 8

/* Looks at the simulated ones. The number of those that have something; *reals: of others. */
static int look(struct pollfd *fds, nfds_t n, bool *reals)
{
	int found = 0;

	*reals = false;
	for (nfds_t i = 0; i < n; i++) {
		struct hauli_sim_file *f = hauli_sim_fds_file(fds[i].fd);

		fds[i].revents = 0;
		if (!f) {
			*reals |= fds[i].fd >= 0;
			continue;
		}
		fds[i].revents = (short)(f->kind->events(f) &
			((unsigned short)fds[i].events | HAULI_SIM_ALWAYS));
		found += fds[i].revents != 0;
	}
	return found;
}

/* The same of the real ones, or -errno. room: for n. */
static int look_at_reals(struct pollfd *fds, nfds_t n, struct pollfd *room)
{
	int found;

	memcpy(room, fds, n * sizeof(fds[0]));
	for (nfds_t i = 0; i < n; i++)
		if (hauli_sim_fds_file(fds[i].fd))
			room[i].fd = -1;
	found = HAULI_SIM_REAL(poll)(room, n, 0);
	for (nfds_t i = 0; i < n; i++)
		if (room[i].fd >= 0)
			fds[i].revents = room[i].revents;
	return found < 0 ? -errno : found;
}

static int look_at_all(struct pollfd *fds, nfds_t n, struct pollfd *room, bool *reals)
{
	int found = look(fds, n, reals), more = 0;

	if (*reals)
		more = look_at_reals(fds, n, room);
	return more < 0 ? more : found + more;
}

static int wait_for(struct pollfd *fds, nfds_t n, struct pollfd *room,
	struct hauli_sim_watch *watches, uint64_t until)
{
	struct hauli_sim_waiter w = {watches, 0};
	bool reals;
	int found = look_at_all(fds, n, room, &reals);

	if (found != 0 || until <= hauli_sim_now())
		return found;
	for (nfds_t i = 0; i < n; i++) {
		struct hauli_sim_file *f = hauli_sim_fds_file(fds[i].fd);

		if (f)
			hauli_sim_waiter_add(&w, &watches[w.n++], f, (unsigned short)fds[i].events);
	}
	if (reals)
		hauli_sim_waiter_add(&w, &watches[w.n++], &hauli_sim_fds_kernel, UINT32_MAX);
	while (found == 0 && hauli_sim_wait(&w, until))
		found = look_at_all(fds, n, room, &reals);
	hauli_sim_waiter_end(&w);
	return found;
}

static int poll_until(struct pollfd *fds, nfds_t n, uint64_t until)
{
	struct pollfd few[FEW], *room = few;
	struct hauli_sim_watch few_watches[FEW + 1], *watches = few_watches;
	int found = -ENOMEM;

	if (n > FEW) {
		room = malloc(n * sizeof(*room));
		watches = malloc((n + 1) * sizeof(*watches));
	}
	if (room && watches)
		found = wait_for(fds, n, room, watches, until);
	if (n > FEW) {
		free(room);
		free(watches);
	}
	return found;
}

HAULI_SIM_REPLACED int poll(struct pollfd *fds, nfds_t n, int ms)
{
	int err;

	if (!hauli_sim_fds_enter_new("poll", &err))
		return HAULI_SIM_REAL(poll)(fds, n, ms);
	return (int)hauli_sim_fds_result(err ? -err : poll_until(fds, n, hauli_sim_in_ms(ms)));
}

HAULI_SIM_REPLACED int ppoll(
	struct pollfd *fds, nfds_t n, const struct timespec *t, const sigset_t *signals)
{
	int err;

	if (!hauli_sim_fds_enter_new("poll", &err))
		return HAULI_SIM_REAL(ppoll)(fds, n, t, signals);
	return (int)hauli_sim_fds_result(err ? -err : poll_until(fds, n, hauli_sim_in(t)));
}

/* What compilers call with _FORTIFY_SOURCE. */
int __poll_chk(struct pollfd *fds, nfds_t n, int ms, size_t room);
int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *t, const sigset_t *signals,
	size_t room);

HAULI_SIM_REPLACED int __poll_chk(struct pollfd *fds, nfds_t n, int ms, size_t room)
{
	return poll(fds, n, ms);
}

HAULI_SIM_REPLACED int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *t,
	const sigset_t *signals, size_t room)
{
	return ppoll(fds, n, t, signals);
}

/* The sets of select(2), with what each asks for and what it is told by. */
#define SETS 3
static const short asked[SETS] = {POLLIN, POLLOUT, POLLPRI};
static const short told[SETS] = {POLLIN | POLLHUP | POLLERR, POLLOUT | POLLERR, POLLPRI};

static int select_until(int n, fd_set *sets[SETS], uint64_t until)
{
	struct pollfd fds[FD_SETSIZE];
	int nb = 0, found = 0, err;

	if (n < 0 || n > FD_SETSIZE)
		return -EINVAL;
	for (int fd = 0; fd < n; fd++) {
		short events = 0;

		for (unsigned s = 0; s < SETS; s++)
			events |= sets[s] && FD_ISSET(fd, sets[s]) ? asked[s] : 0;
		if (events)
			fds[nb++] = (struct pollfd){.fd = fd, .events = events};
	}
	err = poll_until(fds, (nfds_t)nb, until);
	for (int i = 0; i < nb; i++)
		if (fds[i].revents & POLLNVAL)
			err = -EBADF;
	if (err < 0)
		return err;
	for (int i = 0; i < nb; i++)
		for (unsigned s = 0; s < SETS; s++) {
			if (!(fds[i].events & asked[s]))
				continue;
			if (fds[i].revents & told[s])
				found++;
			else
				FD_CLR(fds[i].fd, sets[s]);
		}
	return found;
}

HAULI_SIM_REPLACED int select(int n, fd_set *restrict in, fd_set *restrict out,
	fd_set *restrict except, struct timeval *restrict t)
{
	fd_set *sets[SETS] = {in, out, except};
	uint64_t until = HAULI_NEVER, left;
	int err, found;

	if (!hauli_sim_fds_enter_new("poll", &err))
		return HAULI_SIM_REAL(select)(n, in, out, except, t);
	if (t)
		until = hauli_sim_in(
			&(struct timespec){.tv_sec = t->tv_sec, .tv_nsec = t->tv_usec * 1000});
	found = err ? -err : select_until(n, sets, until);
	if (t) {
		left = until > hauli_sim_now() ? until - hauli_sim_now() : 0;
		*t = (struct timeval){.tv_sec = (time_t)(left / HAUL_S),
			.tv_usec = (suseconds_t)(left % HAUL_S / HAUL_US)};
	}
	return (int)hauli_sim_fds_result(found);
}

HAULI_SIM_REPLACED int pselect(int n, fd_set *restrict in, fd_set *restrict out,
	fd_set *restrict except, const struct timespec *restrict t,
	const sigset_t *restrict signals)
{
	fd_set *sets[SETS] = {in, out, except};
	int err;

	if (!hauli_sim_fds_enter_new("poll", &err))
		return HAULI_SIM_REAL(pselect)(n, in, out, except, t, signals);
	return (int)hauli_sim_fds_result(err ? -err : select_until(n, sets, hauli_sim_in(t)));
}
