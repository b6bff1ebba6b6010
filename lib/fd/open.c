/* SPDX-License-Identifier: BSD-3-Clause */
#include "fd/open.h"

#include <errno.h>
#include <stdlib.h>

#include "fd/dead.h"
#include "fd/epoll.h"
#include "fd/uring.h"
#include "sched/state/runtime.h"

/* io_uring first. */
static const struct hauli_fd_kind *const kinds[] = {&hauli_fd_uring, &hauli_fd_epoll};

static int open_any(struct haul_carrier *c, struct hauli_fds *f)
{
	enum haul_fds which = c->rt->fds;
	int err = -ENOTSUP;

	for (unsigned i = 0; err && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (which != HAUL_FDS_BEST && which != kinds[i]->which)
			continue;
		f->kind = kinds[i];
		err = kinds[i]->open(c, f);
	}
	return err;
}

int hauli_fds_open(struct haul_carrier *c)
{
	struct hauli_fds *f;
	int err;

	if (c->fds.kind)
		return 0;
	if (c->virtual_time)
		return -ENOTSUP;
	if (hauli_fd_dead_file() < 0)
		return -ENOMEM;
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	c->fds.own = f;
	err = open_any(c, f);
	if (err) {
		c->fds.own = NULL;
		free(f);
		return err == -ENOTSUP ? err : -ENOMEM;
	}
	c->fds.kind = &f->kind->sched;
	return 0;
}
