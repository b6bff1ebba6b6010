/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <time.h>

#include <haul/base.h>

#include "sim/fds/table.h"
#include "sim/real.h"
#include "sim/world.h"

struct timer {
	struct hauli_sim_timer timer; /* first */
	struct hauli_sim_file file;
	clockid_t clock;
	uint64_t at, every; /* 0: not armed; once */
	uint64_t n; /* expirations that nobody has read */
};

static struct timer *timer_of(struct hauli_sim_file *f)
{
	return (struct timer *)((char *)f - offsetof(struct timer, file));
}

static void expire(struct hauli_sim_timer *timer)
{
	struct timer *t = (struct timer *)timer;
	uint64_t n = t->every ? 1 + (hauli_sim_now() - t->at) / t->every : 1;

	t->n += n;
	t->at = t->every ? t->at + n * t->every : 0;
	if (t->at)
		hauli_sim_at(&t->timer, t->at);
	hauli_sim_file_changed(&t->file, HAULI_SIM_IN);
}

static ssize_t timer_read(struct hauli_sim_file *f, struct hauli_sim_bytes *to)
{
	struct timer *t = timer_of(f);

	if (to->left < sizeof(t->n))
		return -EINVAL;
	if (t->n == 0)
		return -EAGAIN;
	hauli_sim_bytes_move(to, NULL, &t->n, sizeof(t->n));
	t->n = 0;
	return sizeof(t->n);
}

static uint32_t timer_events(struct hauli_sim_file *f)
{
	return timer_of(f)->n ? POLLIN : 0;
}

static void timer_release(struct hauli_sim_file *f)
{
	struct timer *t = timer_of(f);

	hauli_sim_cancel(&t->timer);
	free(t);
}

static const struct hauli_sim_file_kind kind = {
	.read = timer_read,
	.events = timer_events,
	.release = timer_release,
};

static int make(clockid_t clock, int flags)
{
	struct timer *t;

	if (flags & ~(TFD_CLOEXEC | TFD_NONBLOCK) ||
		(clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC && clock != CLOCK_BOOTTIME &&
			clock != CLOCK_REALTIME_ALARM && clock != CLOCK_BOOTTIME_ALARM))
		return -EINVAL;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	hauli_sim_file_init(&t->file, &kind, O_RDWR | (flags & O_NONBLOCK));
	t->timer.fire = expire;
	t->clock = clock == CLOCK_REALTIME_ALARM ? CLOCK_REALTIME : clock;
	return hauli_sim_fds_add(&t->file, flags);
}

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){.tv_sec = (time_t)(ns / HAUL_S), .tv_nsec = (long)(ns % HAUL_S)};
}

static uint64_t ns_of(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * HAUL_S + (uint64_t)t->tv_nsec;
}

static bool is_valid(const struct timespec *t)
{
	return t->tv_sec >= 0 && t->tv_nsec >= 0 && t->tv_nsec < (long)HAUL_S;
}

static void tell(const struct timer *t, struct itimerspec *to)
{
	uint64_t now = hauli_sim_now();

	to->it_interval = timespec_of(t->every);
	to->it_value = timespec_of(t->at > now ? t->at - now : 0);
}

static uint64_t left_until(const struct timer *t, const struct timespec *at)
{
	struct timespec now;
	uint64_t ns = ns_of(at);

	clock_gettime(t->clock, &now);
	return ns > ns_of(&now) ? ns - ns_of(&now) : 0;
}

static int set(struct timer *t, int flags, const struct itimerspec *to, struct itimerspec *old)
{
	uint64_t ns;

	if (flags & ~(TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET) || !is_valid(&to->it_value) ||
		!is_valid(&to->it_interval))
		return -EINVAL;
	if (old)
		tell(t, old);
	hauli_sim_cancel(&t->timer);
	t->n = t->at = 0;
	t->every = ns_of(&to->it_interval);
	ns = ns_of(&to->it_value);
	if (ns == 0)
		return 0;
	if (flags & TFD_TIMER_ABSTIME)
		ns = left_until(t, &to->it_value);
	t->at = hauli_sim_now() + ns;
	if (ns == 0)
		expire(&t->timer);
	else
		hauli_sim_at(&t->timer, t->at);
	return 0;
}

HAULI_SIM_REPLACED int timerfd_create(clockid_t clock, int flags)
{
	int err;

	if (!hauli_sim_fds_enter_new("timerfd_create", &err))
		return HAULI_SIM_REAL(timerfd_create)(clock, flags);
	return (int)hauli_sim_fds_result(err ? -err : make(clock, flags));
}

HAULI_SIM_REPLACED int timerfd_settime(
	int fd, int flags, const struct itimerspec *to, struct itimerspec *old)
{
	struct hauli_sim_file *f = hauli_sim_fds_enter("timerfd_settime", fd, NULL);

	if (!f)
		return HAULI_SIM_REAL(timerfd_settime)(fd, flags, to, old);
	return (int)hauli_sim_fds_result(
		f->kind != &kind ? -EINVAL : set(timer_of(f), flags, to, old));
}

HAULI_SIM_REPLACED int timerfd_gettime(int fd, struct itimerspec *to)
{
	struct hauli_sim_file *f = hauli_sim_fds_enter("timerfd_gettime", fd, NULL);

	if (!f)
		return HAULI_SIM_REAL(timerfd_gettime)(fd, to);
	if (f->kind != &kind)
		return (int)hauli_sim_fds_result(-EINVAL);
	tell(timer_of(f), to);
	return 0;
}
