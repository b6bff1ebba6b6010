/* SPDX-License-Identifier: BSD-3-Clause */
/* The pollers, queues and wait sets of io, before its pollers run and after they have ended. */
#ifndef HAULI_IO_CREATE_H
#define HAULI_IO_CREATE_H

#include "io/state.h"

/* Which carriers get a poller, and what each polls. opts: checked. 0 or -ENOMEM. */
int hauli_io_create(struct haul_io **out, struct haul_runtime *rt, const struct haul_io_opts *opts);

/* Makes the pollers for the queues that ports have now, with nothing counted. False: no memory, and
 * hauli_io_free_shape() frees what there is. hauli_io_configure() follows. */
bool hauli_io_make_shape(struct haul_io *io);
void hauli_io_free_shape(struct haul_io *io);

/* What the pollers do, from options that may differ from those of the start: handler, burst,
 * policy, peers. opts: checked. No poller is registered. */
void hauli_io_configure(struct haul_io *io, const struct haul_io_opts *opts);

/* A carrier's part of a port's receive queue; NULL: the carrier never polls it. The port has that
 * queue. Any thread. */
struct hauli_rxq *hauli_io_rxq(
	const struct haul_io *io, const struct hauli_poller *p, unsigned port, unsigned queue);

/* What a queue needs to know of its port's device, which may be of another kind than the one of
 * before. No other thread uses the queue. */
void hauli_rxq_choose(const struct haul_io *io, struct hauli_rxq *r);
/* Then: the burst calls of the device. Carrier, or while no poller runs. */
void hauli_rxq_connect(struct hauli_rxq *r);

/* Shares max_in_flight of a carrier and port among the queues of the port that the carrier polls.
 * Call on the carrier's thread, or before its poller runs. */
void hauli_io_share_limit(const struct haul_io *io, struct hauli_poller *p, unsigned port);

/* The descriptors that pollers wait on. 0, or -errno with a line that begins with caller. */
int hauli_io_open_waits(struct haul_io *io, const char *caller, char *errbuf, size_t errlen);
/* Closes them, once no pollers run. May be called twice. */
void hauli_io_close_waits(struct haul_io *io);

/* Frees io. No poller is registered. */
void hauli_io_destroy(struct haul_io *io);

#endif
