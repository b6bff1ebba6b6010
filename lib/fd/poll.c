/* SPDX-License-Identifier: BSD-3-Clause */
#include "fd/poll.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

int hauli_fds_open_wake(struct hauli_fds *f)
{
	f->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return f->wake < 0 ? -errno : 0;
}

void hauli_fds_wake(struct haul_carrier *c)
{
	/* The write fails if the eventfd's counter is full, which is an event too. */
	(void)eventfd_write(hauli_fds_of(c)->wake, 1);
}

void hauli_fds_free(struct haul_carrier *c)
{
	struct hauli_fds *f = hauli_fds_of(c);

	c->fds.kind = NULL;
	close(f->wake);
	free(f->polls);
	free(f);
}

/* Makes room for the polls of fd. */
static int grow(struct hauli_fds *f, int fd)
{
	unsigned nb = f->nb ? f->nb : 64;
	struct hauli_fd_polls *polls;

	while (nb <= (unsigned)fd)
		nb *= 2;
	polls = realloc(f->polls, nb * sizeof(polls[0]));
	if (!polls)
		return -ENOMEM;
	memset(&polls[f->nb], 0, (nb - f->nb) * sizeof(polls[0]));
	f->polls = polls;
	f->nb = nb;
	return 0;
}

int hauli_fd_poll(struct haul_carrier *c, int fd, enum hauli_fd_dir dir, uint64_t closes)
{
	struct hauli_fds *f = hauli_fds_of(c);
	struct hauli_fd_poll *p;
	int err;

	if (hauli_unlikely((unsigned)fd >= f->nb)) {
		err = grow(f, fd);
		if (err)
			return err;
	}
	p = &f->polls[fd].in[dir];
	if (p->number && p->closes == (uint32_t)closes)
		return 0;
	/* A poll for a later value is left alone: nobody would end another one in its place. */
	if (p->number && (int32_t)((uint32_t)closes - p->closes) < 0)
		return -EBADF;
	if (p->number)
		f->kind->end(c, fd, dir);
	p->number = ++f->last ? f->last : ++f->last;
	p->closes = (uint32_t)closes;
	err = f->kind->begin(c, fd, dir);
	if (hauli_unlikely(err))
		p->number = 0;
	return err;
}

void hauli_fd_poll_no_more(struct haul_carrier *c, int fd, enum hauli_fd_dir dir, uint64_t closes)
{
	struct hauli_fds *f = hauli_fds_of(c);
	struct hauli_fd_poll *p = &f->polls[fd].in[dir];

	if (!p->number || p->closes != (uint32_t)closes ||
		hauli_fd_waits(&hauli_fd_slot(fd)->q[dir], c))
		return;
	f->kind->end(c, fd, dir);
	p->number = 0;
}

void hauli_fd_poll_ended(struct haul_carrier *c, int fd, enum hauli_fd_dir dir, uint32_t number)
{
	struct hauli_fd_poll *p = &hauli_fds_of(c)->polls[fd].in[dir];
	uint64_t closes;

	if (p->number != number)
		return;
	p->number = 0;
	if (hauli_fd_ready(&hauli_fd_slot(fd)->q[dir], c, &closes))
		(void)hauli_fd_poll(c, fd, dir, closes);
}
