/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * epoll sets, by the kernel's algorithm: a member that may have an event is in the set's list; a
 * look takes members from its beginning, asks each what it has, and puts it back at the end if it
 * is level-triggered. The set's number is a real set as well, which has the real members.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "sim/fds/table.h"
#include "sim/fds/when.h"
#include "sim/real.h"
#include "sim/world.h"

/* What is no event. */
#define HOW ((uint32_t)(EPOLLET | EPOLLONESHOT | EPOLLWAKEUP | EPOLLEXCLUSIVE))
#define WITH_EXCLUSIVE                                                                  \
	((uint32_t)(EPOLLIN | EPOLLOUT | EPOLLERR | EPOLLHUP | EPOLLWAKEUP | EPOLLET) | \
		EPOLLEXCLUSIVE)
#define NESTED 5

struct set;

struct member {
	struct hauli_sim_watch
		watch; /* first. Its events: what the program asks for, without HOW */
	struct set *set;
	struct member *next; /* in its bucket */
	struct member *after, *before; /* in the list */
	int fd;
	bool is_listed;
	uint32_t how;
	epoll_data_t data;
};

struct set {
	struct hauli_sim_file file; /* first */
	int fd;
	struct member **buckets;
	unsigned nb_buckets, nb; /* a power of two */
	struct member *first, *last; /* listed */
	bool has_reals;
	struct hauli_sim_watch kernel; /* if has_reals */
};

static const struct hauli_sim_file_kind set_kind;

static void append(struct member *m)
{
	struct set *s = m->set;

	m->is_listed = true;
	m->after = NULL;
	m->before = s->last;
	*(s->last ? &s->last->after : &s->first) = m;
	s->last = m;
}

static void unlist(struct member *m)
{
	struct set *s = m->set;

	m->is_listed = false;
	*(m->before ? &m->before->after : &s->first) = m->after;
	*(m->after ? &m->after->before : &s->last) = m->before;
}

/* 0 for one that EPOLLONESHOT has silenced. */
static uint32_t events_of(const struct member *m)
{
	struct hauli_sim_file *f = m->watch.file;

	return m->watch.events ? f->kind->events(f) & m->watch.events : 0;
}

static void member_changed(struct hauli_sim_watch *w)
{
	struct member *m = (struct member *)w;

	if (!m->watch.events)
		return;
	if (!m->is_listed)
		append(m);
	hauli_sim_file_changed(&m->set->file, HAULI_SIM_IN);
}

static void kernel_changed(struct hauli_sim_watch *w)
{
	struct set *s = w->owner;

	hauli_sim_file_changed(&s->file, HAULI_SIM_IN);
}

static struct member **find(struct set *s, const struct hauli_sim_file *f, int fd)
{
	struct member **at = &s->buckets[(unsigned)fd & (s->nb_buckets - 1)];

	while (*at && ((*at)->fd != fd || (*at)->watch.file != f))
		at = &(*at)->next;
	return at;
}

static void take_out(struct set *s, struct member *m)
{
	struct member **at = find(s, m->watch.file, m->fd);

	*at = m->next;
	s->nb--;
	if (m->is_listed)
		unlist(m);
	hauli_sim_watch_end(&m->watch);
	free(m);
}

static void member_gone(struct hauli_sim_watch *w)
{
	struct member *m = (struct member *)w;

	take_out(m->set, m);
}

static bool grow(struct set *s)
{
	unsigned nb = s->nb_buckets ? 4 * s->nb_buckets : 4;
	struct member **old = s->buckets, **buckets;

	if (s->nb < s->nb_buckets)
		return true;
	buckets = calloc(nb, sizeof(buckets[0]));
	if (!buckets)
		return false;
	for (unsigned i = 0; i < s->nb_buckets; i++)
		for (struct member *m = old[i], *next; m; m = next) {
			next = m->next;
			m->next = buckets[(unsigned)m->fd & (nb - 1)];
			buckets[(unsigned)m->fd & (nb - 1)] = m;
		}
	free(old);
	s->buckets = buckets;
	s->nb_buckets = nb;
	return true;
}

static void ask(struct member *m, const struct epoll_event *ev)
{
	m->how = ev->events & HOW;
	m->watch.events = (ev->events & ~HOW) | HAULI_SIM_ALWAYS;
	m->data = ev->data;
	if (!m->is_listed && events_of(m)) /* else the kernel tells nobody again */
		member_changed(&m->watch);
}

static int add(struct set *s, struct hauli_sim_file *f, int fd, const struct epoll_event *ev)
{
	struct member *m = calloc(1, sizeof(*m));

	if (!m || !grow(s)) {
		free(m);
		return -ENOMEM;
	}
	m->set = s;
	m->fd = fd;
	m->watch.changed = member_changed;
	m->watch.gone = member_gone;
	hauli_sim_watch_begin(&m->watch, f, ev->events & EPOLLEXCLUSIVE);
	m->next = NULL;
	*find(s, f, fd) = m;
	s->nb++;
	ask(m, ev);
	return 0;
}

/* Whether one of the files that f waits for is s, or too far away. */
static bool reaches(const struct hauli_sim_file *f, const struct set *s, unsigned depth)
{
	const struct set *in = (const struct set *)f;

	if (f->kind != &set_kind)
		return false;
	if (in == s || depth == NESTED)
		return true;
	for (unsigned i = 0; i < in->nb_buckets; i++)
		for (const struct member *m = in->buckets[i]; m; m = m->next)
			if (reaches(m->watch.file, s, depth + 1))
				return true;
	return false;
}

static int control(
	struct set *s, int op, int fd, struct hauli_sim_file *f, const struct epoll_event *ev)
{
	struct member *m = *find(s, f, fd);
	uint32_t events = ev && op != EPOLL_CTL_DEL ? ev->events : 0;

	if (op != EPOLL_CTL_DEL && !ev)
		return -EFAULT;
	if (events & EPOLLEXCLUSIVE &&
		(op == EPOLL_CTL_MOD || f->kind == &set_kind || events & ~WITH_EXCLUSIVE))
		return -EINVAL;
	switch (op) {
	case EPOLL_CTL_ADD:
		if (f->kind == &set_kind && reaches(f, s, 0))
			return -ELOOP;
		return m ? -EEXIST : add(s, f, fd, ev);
	case EPOLL_CTL_MOD:
		if (!m)
			return -ENOENT;
		if (m->how & EPOLLEXCLUSIVE)
			return -EINVAL;
		ask(m, ev);
		return 0;
	case EPOLL_CTL_DEL:
		if (!m)
			return -ENOENT;
		take_out(s, m);
		return 0;
	default:
		return -EINVAL;
	}
}

static int control_real(struct set *s, int epoll, int op, int fd, struct epoll_event *ev)
{
	if (HAULI_SIM_REAL(epoll_ctl)(epoll, op, fd, ev) != 0)
		return -errno;
	if (!s->has_reals) {
		s->has_reals = true;
		s->kernel = (struct hauli_sim_watch){
			.events = UINT32_MAX, .owner = s, .changed = kernel_changed};
		hauli_sim_watch_begin(&s->kernel, &hauli_sim_fds_kernel, false);
	}
	hauli_sim_fds_passed();
	return 0;
}

HAULI_SIM_REPLACED int epoll_ctl(int epoll, int op, int fd, struct epoll_event *ev)
{
	int err = 0;
	struct hauli_sim_file *f =
		hauli_sim_fds_enter("epoll_ctl", epoll, op == EPOLL_CTL_ADD ? &err : NULL);
	struct hauli_sim_file *of = hauli_sim_fds_file(fd);

	if (!f)
		return HAULI_SIM_REAL(epoll_ctl)(epoll, op, fd, ev);
	if (!err && !of && HAULI_SIM_REAL(fcntl)(fd, F_GETFD) < 0)
		err = EBADF;
	if (!err && (f->kind != &set_kind || f == of))
		err = EINVAL;
	if (err)
		return (int)hauli_sim_fds_result(-err);
	return (int)hauli_sim_fds_result(of ? control((struct set *)f, op, fd, of, ev)
					    : control_real((struct set *)f, epoll, op, fd, ev));
}

/* Takes what members have. */
static int take(struct set *s, struct epoll_event *events, int n)
{
	struct member *last = s->last, *next;
	int found = 0;

	for (struct member *m = s->first; m && found < n; m = next) {
		uint32_t has = events_of(m);

		next = m == last ? NULL : m->after;
		unlist(m);
		if (!has)
			continue;
		events[found++] = (struct epoll_event){.events = has, .data = m->data};
		if (m->how & EPOLLONESHOT)
			m->watch.events = 0;
		else if (!(m->how & EPOLLET))
			append(m);
	}
	return found;
}

struct look {
	int fd;
	struct epoll_event *events;
	int n;
};

static ssize_t try_take(struct hauli_sim_file *f, void *arg)
{
	struct set *s = (struct set *)f;
	struct look *l = arg;
	int found = take(s, l->events, l->n), more = 0;

	if (s->has_reals && found < l->n)
		more = HAULI_SIM_REAL(epoll_wait)(l->fd, l->events + found, l->n - found, 0);
	found += more > 0 ? more : 0;
	return found ? found : -EAGAIN;
}

static int wait_until(
	struct hauli_sim_file *f, int fd, struct epoll_event *events, int n, uint64_t until)
{
	struct look l = {fd, events, n};
	ssize_t found;

	if (f->kind != &set_kind || n <= 0)
		return -EINVAL;
	found = hauli_sim_file_try(
		f, HAULI_SIM_IN, until > hauli_sim_now() ? until : 0, try_take, &l);
	return found == -EAGAIN ? 0 : (int)found;
}

HAULI_SIM_REPLACED int epoll_wait(int fd, struct epoll_event *events, int n, int ms)
{
	int err;
	struct hauli_sim_file *f = hauli_sim_fds_enter("epoll_wait", fd, &err);

	if (!f)
		return HAULI_SIM_REAL(epoll_wait)(fd, events, n, ms);
	return (int)hauli_sim_fds_result(
		err ? -err : wait_until(f, fd, events, n, hauli_sim_in_ms(ms)));
}

HAULI_SIM_REPLACED int epoll_pwait(
	int fd, struct epoll_event *events, int n, int ms, const sigset_t *signals)
{
	int err;
	struct hauli_sim_file *f = hauli_sim_fds_enter("epoll_wait", fd, &err);

	if (!f)
		return HAULI_SIM_REAL(epoll_pwait)(fd, events, n, ms, signals);
	return (int)hauli_sim_fds_result(
		err ? -err : wait_until(f, fd, events, n, hauli_sim_in_ms(ms)));
}

HAULI_SIM_REPLACED int epoll_pwait2(int fd, struct epoll_event *events, int n,
	const struct timespec *t, const sigset_t *signals)
{
	int err;
	struct hauli_sim_file *f = hauli_sim_fds_enter("epoll_wait", fd, &err);

	if (!f)
		return HAULI_SIM_REAL(epoll_pwait2)(fd, events, n, t, signals);
	return (int)hauli_sim_fds_result(
		err ? -err : wait_until(f, fd, events, n, hauli_sim_in(t)));
}

static uint32_t set_events(struct hauli_sim_file *f)
{
	struct set *s = (struct set *)f;

	while (s->first) {
		if (events_of(s->first))
			return HAULI_SIM_IN;
		unlist(s->first);
	}
	if (s->has_reals && HAULI_SIM_REAL(poll)(&(struct pollfd){s->fd, POLLIN, 0}, 1, 0) > 0)
		return HAULI_SIM_IN;
	return 0;
}

static void set_release(struct hauli_sim_file *f)
{
	struct set *s = (struct set *)f;

	for (unsigned i = 0; i < s->nb_buckets; i++)
		while (s->buckets[i])
			take_out(s, s->buckets[i]);
	if (s->has_reals)
		hauli_sim_watch_end(&s->kernel);
	free(s->buckets);
	free(s);
}

static const struct hauli_sim_file_kind set_kind = {.events = set_events, .release = set_release};

static int make(int flags)
{
	struct set *s;
	int fd;

	s = calloc(1, sizeof(*s));
	if (!s || !grow(s)) {
		free(s);
		return -ENOMEM;
	}
	hauli_sim_file_init(&s->file, &set_kind, O_RDWR);
	fd = HAULI_SIM_REAL(epoll_create1)(flags);
	s->fd = fd < 0 ? -errno : fd;
	return hauli_sim_fds_add_at(&s->file, s->fd);
}

HAULI_SIM_REPLACED int epoll_create1(int flags)
{
	int err;

	if (!hauli_sim_fds_enter_new("epoll_create1", &err))
		return HAULI_SIM_REAL(epoll_create1)(flags);
	return (int)hauli_sim_fds_result(err ? -err : make(flags));
}

HAULI_SIM_REPLACED int epoll_create(int size)
{
	if (size <= 0)
		return (int)hauli_sim_fds_result(-EINVAL);
	return epoll_create1(0);
}
