/* SPDX-License-Identifier: BSD-3-Clause */
/* haul_io_notice()'s text about queues that may lose packets, and about slow carriers. */
#include "io/notice.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <rte_launch.h>
#include <rte_lcore.h>

#include "port/fill_time.h"

__attribute__((format(printf, 2, 3))) static void note(struct haul_io *io, const char *format, ...)
{
	size_t len = strlen(io->notice);
	va_list ap;

	if (len > 0)
		len += (size_t)snprintf(io->notice + len, sizeof(io->notice) - len, "; ");
	va_start(ap, format);
	if (len < sizeof(io->notice))
		vsnprintf(io->notice + len, sizeof(io->notice) - len, format, ap);
	va_end(ap);
}

/* Every kind of wait may be too slow for the queue's packet rate. */
static void note_fill_time(struct haul_io *io)
{
	if (!haul_poll_kind_of(io->opts.policy.how)->may_overflow)
		return;
	for (const struct hauli_rxq *r = io->pollers[0]->rxqs; r < io->pollers[0]->rxqs_end; r++) {
		if (r->fill_time >= HAULI_FILL_TIME_MIN)
			continue;
		note(io,
			"port '%s' may lose packets at the start of a burst: a queue is full after "
			"%.1f us, and a wake-up takes about 10; use spin, or longer queues",
			haul_port_spec(r->port), (double)r->fill_time / 1000);
		return;
	}
}

/* The launcher of the runtime is not known here, but whether any lcore runs. */
static void note_lcores(struct haul_io *io)
{
	unsigned lcore;

	RTE_LCORE_FOREACH_WORKER (lcore) {
		if (rte_eal_get_lcore_state(lcore) == RUNNING)
			return;
	}
	note(io,
		"carriers are threads that EAL does not know, which have no caches of packet "
		"buffers and are slow; set haul_runtime_opts.launcher to haul_eal_launcher()");
}

void hauli_io_note(struct haul_io *io)
{
	note_lcores(io);
	note_fill_time(io);
}
