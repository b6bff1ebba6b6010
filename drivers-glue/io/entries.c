/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/entries.h"

#include <stdlib.h>

#include "port/reta.h"

static bool is_right(const struct haul_io *io, unsigned port, const uint16_t *queues, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (queues[i] >= haul_port_queues(io->ports[port]))
			return false;
	return true;
}

static struct hauli_reta *table_of(const struct haul_io *io, unsigned port)
{
	return hauli_ptr_published_get(&io->retas[port]);
}

/* A table of n entries for the port. NULL: no memory. */
static struct hauli_reta *table_with(struct haul_io *io, unsigned port, unsigned n)
{
	struct hauli_reta *older = table_of(io, port), *reta;

	if (older && older->n == n)
		return older;
	reta = calloc(1, sizeof(*reta) + n * sizeof(reta->queues[0]));
	if (!reta)
		return NULL;
	reta->older = older;
	reta->n = n;
	return reta;
}

/* False: no memory. A table that cannot be read has no entries. */
static bool read_table(struct haul_io *io, unsigned port)
{
	char why[256];
	unsigned n = hauli_reta_size(io->ports[port], why, sizeof(why));
	uint16_t *queues = calloc(n + 1, sizeof(queues[0]));
	struct hauli_reta *reta;

	if (queues && n > 0 &&
		(hauli_reta_read(io->ports[port], queues, n, why, sizeof(why)) != 0 ||
			!is_right(io, port, queues, n)))
		n = 0;
	reta = queues && (n > 0 || table_of(io, port)) ? table_with(io, port, n) : NULL;
	for (unsigned i = 0; reta && i < n; i++)
		hauli_u32_published_set(&reta->queues[i], queues[i]);
	if (reta)
		hauli_ptr_published_set(&io->retas[port], reta);
	free(queues);
	return queues && (reta || n == 0);
}

bool hauli_entries_read(struct haul_io *io)
{
	for (unsigned i = 0; i < io->opts.nb_ports; i++)
		if (io->owners[i] && hauli_io_has_port(io, i) && !read_table(io, i))
			return false;
	return true;
}

static void restore(struct haul_io *io, unsigned port, const uint16_t *queues)
{
	char why[256];

	for (unsigned i = 0, n = hauli_entries_count(io, port); i < n; i++) {
		unsigned was = hauli_entry_queue(io, port, i);

		if (queues[i] != was &&
			hauli_reta_set(io->ports[port], i, was, n, why, sizeof(why)) != 0)
			hauli_entry_set(io, port, i, queues[i]);
	}
}

bool hauli_entries_restore(struct haul_io *io, unsigned port)
{
	unsigned n = hauli_entries_count(io, port);
	uint16_t *queues;
	char why[256];

	if (!io->owners[port])
		return true;
	if (n == 0 || hauli_reta_size(io->ports[port], why, sizeof(why)) != n)
		return read_table(io, port);
	queues = calloc(n, sizeof(queues[0]));
	if (queues && hauli_reta_read(io->ports[port], queues, n, why, sizeof(why)) == 0 &&
		is_right(io, port, queues, n))
		restore(io, port, queues);
	free(queues);
	return queues;
}

void hauli_entries_free(struct haul_io *io)
{
	for (unsigned i = 0; io->retas && i < io->opts.nb_ports; i++)
		for (struct hauli_reta *reta = table_of(io, i), *older; reta; reta = older) {
			older = reta->older;
			free(reta);
		}
	free(io->retas);
	io->retas = NULL;
}
