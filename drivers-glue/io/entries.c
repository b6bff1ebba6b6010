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

/* False: no memory. A table that cannot be read is none. */
static bool read_table(struct haul_io *io, unsigned port)
{
	struct hauli_reta *reta = &io->retas[port];
	char why[256];
	unsigned n = hauli_reta_size(io->ports[port], why, sizeof(why));
	uint16_t *queues;

	reta->n = 0;
	if (n == 0)
		return true;
	free(reta->queues);
	reta->queues = calloc(n, sizeof(reta->queues[0]));
	queues = calloc(n, sizeof(queues[0]));
	if (queues && reta->queues &&
		hauli_reta_read(io->ports[port], queues, n, why, sizeof(why)) == 0 &&
		is_right(io, port, queues, n))
		reta->n = n;
	for (unsigned i = 0; i < reta->n; i++)
		hauli_u32_published_set(&reta->queues[i], queues[i]);
	free(queues);
	return queues && reta->queues;
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
	struct hauli_reta *reta = &io->retas[port];
	char why[256];

	for (unsigned i = 0; i < reta->n; i++) {
		unsigned was = hauli_u32_published_get(&reta->queues[i]);

		if (queues[i] != was &&
			hauli_reta_set(io->ports[port], i, was, reta->n, why, sizeof(why)) != 0)
			hauli_u32_published_set(&reta->queues[i], queues[i]);
	}
}

void hauli_entries_restore(struct haul_io *io, unsigned port)
{
	unsigned n = io->retas[port].n;
	uint16_t *queues = calloc(n + 1, sizeof(queues[0]));
	char why[256];

	if (queues && n > 0 && hauli_reta_size(io->ports[port], why, sizeof(why)) == n &&
		hauli_reta_read(io->ports[port], queues, n, why, sizeof(why)) == 0 &&
		is_right(io, port, queues, n))
		restore(io, port, queues);
	free(queues);
}

void hauli_entries_free(struct haul_io *io)
{
	for (unsigned i = 0; io->retas && i < io->opts.nb_ports; i++)
		free(io->retas[i].queues);
	free(io->retas);
}
