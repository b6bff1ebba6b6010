/* SPDX-License-Identifier: BSD-3-Clause */
/* All pollers of a program's packets, and what they share. */
#ifndef HAULI_IO_IO_H
#define HAULI_IO_IO_H

#include "io/poll.h"

/* The stages of haul_io_stop(). */
enum hauli_io_stage {
	HAULI_IO_RUNS,
	HAULI_IO_ENDS, /* the pollers are asked to end */
	HAULI_IO_DRAINS, /* they have; the last ones drain */
	HAULI_IO_STOPPED,
};

#define HAULI_NO_IO "NULL is given; give what haul_io_start() has given"

struct haul_io {
	struct haul_io_opts opts; /* constant from the start on, as is all but the last two */
	struct haul_runtime *rt;
	struct haul_coro_opts coro;
	struct haul_port **ports; /* copy of opts.ports */
	struct haul_txq **txqs; /* [nb_ports][nb_pollers], with HAUL_ORDER_ANY */
	struct hauli_poller **pollers; /* [nb_pollers], of the carriers with these numbers */
	unsigned nb_pollers;
	char notice[512];
	enum hauli_io_stage stage;
	char why[256]; /* haul_io_healthy()'s line */
};

/* Adds to the notice what may be lost. Once, when all pollers are there. */
void hauli_io_note(struct haul_io *io);

#endif
