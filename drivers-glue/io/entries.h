/* SPDX-License-Identifier: BSD-3-Clause */
/* The entries of ports' redirection tables, as haul knows them: buckets, each of which has a
 * queue. */
#ifndef HAULI_IO_ENTRIES_H
#define HAULI_IO_ENTRIES_H

#include "io/state.h"

/* Reads the tables of all ports whose queues may move; while no poller runs. False: no memory. */
bool hauli_entries_read(struct haul_io *io);
/* The port's device is a new one, whose table names queues of its own choice: lets it name those of
 * before, as far as it can. While no poller uses the port. */
void hauli_entries_restore(struct haul_io *io, unsigned port);
void hauli_entries_free(struct haul_io *io);

/* The number of entries; 0: there is no table, or the port's packets are spread by software. */
static inline unsigned hauli_entries_count(const struct haul_io *io, unsigned port)
{
	return io->retas[port].n;
}

/* The queue that an entry names. Any thread. */
static inline unsigned hauli_entry_queue(const struct haul_io *io, unsigned port, unsigned entry)
{
	return hauli_u32_published_get(&io->retas[port].queues[entry]);
}

#endif
