/* SPDX-License-Identifier: BSD-3-Clause */
/* The entries of ports' redirection tables, as haul knows them: buckets, each of which has a
 * queue. */
#ifndef HAULI_IO_ENTRIES_H
#define HAULI_IO_ENTRIES_H

#include "io/state.h"

/* Reads the tables of all ports whose queues may move; while no poller runs. False: no memory. */
bool hauli_entries_read(struct haul_io *io);
/* The port's device is a new one, whose table names queues of its own choice: lets it name those of
 * before, as far as it can; or reads the table, if it has another size. While no poller uses the
 * port. False: no memory. */
bool hauli_entries_restore(struct haul_io *io, unsigned port);
void hauli_entries_free(struct haul_io *io);

/* The number of entries; 0: there is no table, or the port's packets are spread by software. */
static inline unsigned hauli_entries_count(const struct haul_io *io, unsigned port)
{
	const struct hauli_reta *reta = hauli_ptr_published_get(&io->retas[port]);

	return reta ? reta->n : 0;
}

/* The queue that an entry names; 0 if the table has become a shorter one. Any thread. */
static inline unsigned hauli_entry_queue(const struct haul_io *io, unsigned port, unsigned entry)
{
	const struct hauli_reta *reta = hauli_ptr_published_get(&io->retas[port]);

	return reta && entry < reta->n ? hauli_u32_published_get(&reta->queues[entry]) : 0;
}

/* The port has that entry. Under haul_io.moving. */
static inline void hauli_entry_set(
	const struct haul_io *io, unsigned port, unsigned entry, unsigned queue)
{
	struct hauli_reta *reta = hauli_ptr_published_get(&io->retas[port]);

	hauli_u32_published_set(&reta->queues[entry], queue);
}

#endif
