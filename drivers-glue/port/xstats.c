/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/xstats.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>

/* The names of an ethdev's queues begin at 0: with an ethdev for each queue they get the port's
 * numbers, "rx_q0_packets" of the third one becomes "rx_q2_packets". */
static void set_name(
	const struct haul_port *port, unsigned vdev, const char *name, char to[HAUL_XSTAT_NAME])
{
	bool queue = strncmp(name, "rx_q0", 5) == 0 || strncmp(name, "tx_q0", 5) == 0;

	if (queue && port->nb_vdevs > 1)
		snprintf(to, HAUL_XSTAT_NAME, "%.4s%u%s", name, vdev, name + 5);
	else
		snprintf(to, HAUL_XSTAT_NAME, "%s", name);
}

/* The element of that name; NULL. */
static struct haul_port_xstat *find(struct haul_port_xstat *stats, unsigned n, const char *name)
{
	for (unsigned i = 0; i < n; i++)
		if (strcmp(stats[i].name, name) == 0)
			return &stats[i];
	return NULL;
}

/* Adds to the element of that name, or to a new one while there are fewer than most. */
static void add(
	struct haul_port_xstat *stats, unsigned *n, unsigned most, const struct haul_port_xstat *x)
{
	struct haul_port_xstat *same = find(stats, *n, x->name);

	if (same)
		same->value += x->value;
	else if (*n < most)
		stats[(*n)++] = *x;
}

static int add_vdev(const struct haul_port *port, unsigned vdev, struct haul_port_xstat *stats,
	unsigned *n, unsigned most)
{
	uint16_t id = port->vdevs[vdev].port_id;
	int have = rte_eth_xstats_get_names(id, NULL, 0);
	struct rte_eth_xstat_name *names;
	struct rte_eth_xstat *values;
	int err = -ENOMEM;

	if (have <= 0)
		return have;
	names = calloc((size_t)have, sizeof(*names));
	values = calloc((size_t)have, sizeof(*values));
	if (names && values) {
		err = rte_eth_xstats_get_names(id, names, (unsigned)have) == have &&
				rte_eth_xstats_get(id, values, (unsigned)have) == have
			? 0
			: -EIO;
	}
	for (int i = 0; i < have && err == 0; i++) {
		struct haul_port_xstat x = {.value = values[i].value};

		set_name(port, vdev, names[i].name, x.name);
		add(stats, n, most, &x);
	}
	free(names);
	free(values);
	return err;
}

int hauli_xstats_read(const struct haul_port *port, struct haul_port_xstat **stats)
{
	const struct hauli_xstats *before = &port->before_xstats;
	unsigned most = 0, n = 0;
	int err = 0;

	if (port->detached)
		return -ENODEV;
	for (unsigned i = 0; i < port->nb_vdevs; i++)
		most += (unsigned)RTE_MAX(
			0, rte_eth_xstats_get_names(port->vdevs[i].port_id, NULL, 0));
	*stats = calloc(most + 1, sizeof(**stats));
	if (!*stats)
		return -ENOMEM;
	for (unsigned i = 0; i < port->nb_vdevs && err == 0; i++)
		err = add_vdev(port, i, *stats, &n, most);
	for (unsigned i = 0; i < n; i++) {
		const struct haul_port_xstat *x = find(before->x, before->n, (*stats)[i].name);

		(*stats)[i].value += x ? x->value : 0;
	}
	if (err == 0)
		return (int)n;
	free(*stats);
	*stats = NULL;
	return err;
}

int hauli_xstats_read_all(const struct haul_port *port, struct haul_port_xstat **stats)
{
	const struct hauli_xstats *before = &port->before_xstats;
	struct haul_port_xstat *now = NULL;
	int n = port->detached ? 0 : hauli_xstats_read(port, &now);
	unsigned all = before->n;

	*stats = n < 0 ? NULL : calloc(all + (unsigned)n + 1, sizeof(**stats));
	if (*stats && before->n)
		memcpy(*stats, before->x, before->n * sizeof(**stats));
	for (int i = 0; *stats && i < n; i++) {
		struct haul_port_xstat *same = find(*stats, before->n, now[i].name);

		*(same ? same : &(*stats)[all++]) = now[i];
	}
	free(now);
	if (n < 0)
		return n;
	return *stats ? (int)all : -ENOMEM;
}

void hauli_xstats_keep(struct haul_port *port)
{
	struct haul_port_xstat *all;
	int n = hauli_xstats_read_all(port, &all);

	if (n < 0)
		return;
	free(port->before_xstats.x);
	port->before_xstats = (struct hauli_xstats){all, (unsigned)n};
}

/* Adds to what earlier devices have counted. */
static void add_before(struct haul_port *port, const struct haul_port_xstat *x)
{
	struct hauli_xstats *before = &port->before_xstats;
	struct haul_port_xstat *more = before->x;

	if (!find(before->x, before->n, x->name))
		more = realloc(before->x, (before->n + 1) * sizeof(before->x[0]));
	if (!more)
		return;
	before->x = more;
	add(before->x, &before->n, before->n + 1, x);
}

void hauli_xstats_go_on(struct haul_port *port, const struct haul_port_xstat *before, int n)
{
	struct haul_port_xstat *now;
	int nb_now = hauli_xstats_read_all(port, &now);

	for (int i = 0; i < n && nb_now >= 0; i++) {
		const struct haul_port_xstat *x = find(now, (unsigned)nb_now, before[i].name);
		struct haul_port_xstat lost = before[i];

		lost.value -= x ? RTE_MIN(x->value, lost.value) : 0;
		if (lost.value > 0)
			add_before(port, &lost);
	}
	if (nb_now >= 0)
		free(now);
}

/* True if a PMD's counter is that of the bytes of a queue, in direction "rx" or "tx". */
static bool is_bytes(const char *name, const char *direction, unsigned queue)
{
	char wanted[RTE_ETH_XSTATS_NAME_SIZE], good[RTE_ETH_XSTATS_NAME_SIZE];

	snprintf(wanted, sizeof(wanted), "%s_q%u_bytes", direction, queue);
	snprintf(good, sizeof(good), "%s_q%u_good_bytes", direction, queue); /* virtio */
	return strcmp(name, wanted) == 0 || strcmp(name, good) == 0;
}

static void add_bytes(struct hauli_queue_bytes *b, const char *name, uint64_t value, unsigned queue)
{
	if (is_bytes(name, "rx", queue))
		b->rx += value;
	else if (is_bytes(name, "tx", queue))
		b->tx += value;
}

/*
 * The PMD's counters of one queue, if it has them. By name, in memory of our own: rte_eth_stats has
 * no queues since DPDK 25.11, and a look-up by name puts all names on the stack.
 */
static void add_device(struct hauli_queue_bytes *b, struct haul_queue queue)
{
	int n = rte_eth_xstats_get_names(queue.port_id, NULL, 0);
	struct rte_eth_xstat_name *names = n > 0 ? calloc((size_t)n, sizeof(*names)) : NULL;
	struct rte_eth_xstat *values = n > 0 ? calloc((size_t)n, sizeof(*values)) : NULL;

	if (names && values && rte_eth_xstats_get_names(queue.port_id, names, (unsigned)n) == n &&
		rte_eth_xstats_get(queue.port_id, values, (unsigned)n) == n) {
		for (int i = 0; i < n; i++)
			add_bytes(b, names[i].name, values[i].value, queue.queue_id);
	}
	free(names);
	free(values);
}

struct hauli_queue_bytes hauli_xstats_queue_bytes(const struct haul_port *port, unsigned queue)
{
	const struct hauli_xstats *before = &port->before_xstats;
	struct hauli_queue_bytes b = {0};

	for (unsigned i = 0; i < before->n; i++)
		add_bytes(&b, before->x[i].name, before->x[i].value, queue);
	if (!port->detached)
		add_device(&b, haul_port_queue(port, queue));
	return b;
}
