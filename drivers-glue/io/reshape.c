/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between two runs ports get other numbers of queues, and io other pollers for them: which carrier
 * polls which queue follows from these numbers (create.c), as at the start. What the former pollers
 * have counted is added to the sums (hauli_stats_keep()). Carriers that were out of use stay so.
 *
 * Tests: tests/net/io_queues.c, fwd_reconfigure.py.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/assert.h"
#include "io/create.h"
#include "io/detach.h"
#include "io/resume.h"
#include "io/stats.h"
#include "io/times.h"

/* Lists the carriers in use. Returns their number. */
static unsigned list_used(const struct haul_io *io, unsigned *carriers)
{
	unsigned n = 0;

	for (unsigned c = 0; c < io->nb_pollers; c++)
		if (haul_io_is_used(io, c))
			carriers[n++] = c;
	return n;
}

/* The same carriers, as far as they have a poller now. */
static int use_again(
	struct haul_io *io, const unsigned *carriers, unsigned n, char *errbuf, size_t errlen)
{
	while (n > 0 && carriers[n - 1] >= io->nb_pollers)
		n--;
	return n > 0 ? haul_io_use(io, carriers, n, HAUL_FOREVER, errbuf, errlen) : 0;
}

static int check(const struct haul_io *io, char *errbuf, size_t errlen)
{
	const char *wrong = NULL;

	if (haul_carrier_self())
		wrong = "called on a carrier; call it in another thread";
	else if (io->stage != HAULI_IO_STOPPED)
		wrong = "the pollers run; call haul_io_stop() first";
	else if (io->capture)
		wrong = "a capture is under way; stop it first";
	else if (hauli_io_in_flight(io) > 0)
		wrong = "handlers of the last run have not ended";
	if (!wrong)
		return 0;
	snprintf(errbuf, errlen, "haul_io_reshape: %s", wrong);
	return haul_carrier_self() ? -EPERM : -EBUSY;
}

static bool make_again(struct haul_io *io)
{
	const struct haul_io_opts opts = io->opts;
	const struct haul_coro_opts coro = io->coro;

	if (!hauli_stats_keep(io))
		return false;
	hauli_io_free_shape(io);
	if (!hauli_io_make_shape(io))
		return false;
	hauli_io_configure(io, &opts);
	io->coro = coro;
	hauli_times_connect(io);
	hauli_io_begin_without(io);
	return true;
}

int haul_io_reshape(struct haul_io *io, char *errbuf, size_t errlen)
{
	unsigned *used, n;
	bool all;
	int err;

	HAUL_MISUSE_IF(!io, HAULI_NO_IO);
	err = check(io, errbuf, errlen);
	if (err)
		return err;
	used = calloc(io->nb_carriers, sizeof(used[0]));
	n = used ? list_used(io, used) : 0;
	all = n == io->nb_pollers;
	if (!used || !make_again(io)) {
		snprintf(errbuf, errlen, "haul_io_reshape: no memory");
		err = -ENOMEM;
	} else if (!all) {
		err = use_again(io, used, n, errbuf, errlen);
	}
	free(used);
	return err;
}
