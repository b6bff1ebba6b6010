/* SPDX-License-Identifier: BSD-3-Clause */
/* A host's life: creation, start, stop. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/assert.h"
#include "host/ask.h"
#include "host/config.h"
#include "host/detect.h"
#include "host/flows.h"
#include "io/state.h"
#include "port/ethdev.h"
#include "port/ports.h"

#define NEIGHBOURS_MOST (1u << 20)
#define WAITERS_DEFAULT (1u << 16)

static void set_default(unsigned *value, unsigned otherwise)
{
	if (*value == 0)
		*value = otherwise;
}

static void set_default_ns(uint64_t *value, uint64_t otherwise)
{
	if (*value == 0)
		*value = otherwise;
}

static void set_defaults(struct haul_host_opts *opts)
{
	set_default(&opts->nb_ports, 1);
	set_default(&opts->neighbours_max, 1024);
	set_default(&opts->waiters_max, WAITERS_DEFAULT);
	set_default(&opts->addresses_max, 64);
	set_default(&opts->routes_max, 1024);
	set_default(&opts->tries, 3);
	set_default(&opts->announcements, 2);
	set_default_ns(&opts->reachable_ns, 30 * HAUL_S);
	set_default_ns(&opts->delay_ns, 5 * HAUL_S);
	set_default_ns(&opts->retrans_ns, HAUL_S);
	set_default_ns(&opts->failed_ns, HAUL_S);
}

static void wake(void *host)
{
	haul_event_set(&((struct haul_host *)host)->wake);
}

static int create_neighbours(struct haul_host *host)
{
	const struct haul_host_opts *o = &host->opts;
	const struct hauli_neigh_opts opts = {
		.neighbours_max = o->neighbours_max,
		.waiters_max = o->waiters_max,
		.tries = o->tries,
		.reachable_ns = o->reachable_ns,
		.delay_ns = o->delay_ns,
		.retrans_ns = o->retrans_ns,
		.failed_ns = o->failed_ns,
		.on_earlier = wake,
		.arg = host,
	};
	int err = 0;

	for (unsigned i = 0; i < o->nb_ports && !err; i++) {
		err = hauli_neigh_create(&host->ports[i].neighbours, &opts);
		if (!err)
			hauli_neigh_close(host->ports[i].neighbours);
	}
	return err;
}

static int create(struct haul_host *host)
{
	const struct haul_host_opts *o = &host->opts;

	pthread_mutex_init(&host->lock, NULL);
	host->ports = calloc(o->nb_ports, sizeof(host->ports[0]));
	host->owns = calloc(o->addresses_max, sizeof(host->owns[0]));
	host->added = calloc(o->routes_max, sizeof(host->added[0]));
	host->announcements = calloc(o->addresses_max, sizeof(host->announcements[0]));
	if (!host->ports || !host->owns || !host->added || !host->announcements)
		return -ENOMEM;
	return create_neighbours(host) ? -ENOMEM : hauli_host_publish(host);
}

int haul_host_create(
	struct haul_host **out, const struct haul_host_opts *opts, char *errbuf, size_t errlen)
{
	struct haul_host *host;

	HAUL_MISUSE_IF(!out, "NULL is given; give the address of a pointer");
	if (opts && opts->neighbours_max > NEIGHBOURS_MOST) {
		snprintf(errbuf, errlen, "haul_host_create: neighbours_max is %u; give %u at most",
			opts->neighbours_max, NEIGHBOURS_MOST);
		return -EINVAL;
	}
	host = calloc(1, sizeof(*host));
	if (host) {
		host->opts = opts ? *opts : (struct haul_host_opts){0};
		set_defaults(&host->opts);
	}
	if (!host || create(host)) {
		if (host)
			haul_host_free(host);
		snprintf(errbuf, errlen, "haul_host_create: no memory");
		return -ENOMEM;
	}
	*out = host;
	return 0;
}

void haul_host_free(struct haul_host *host)
{
	HAUL_MISUSE_IF(!host, "NULL is given; give what haul_host_create() has given");
	HAUL_MISUSE_IF(host->coroutine, "the host is started; call haul_host_stop() first");
	hauli_flows_free(host);
	for (unsigned i = 0; host->ports && i < host->opts.nb_ports; i++)
		hauli_neigh_free(host->ports[i].neighbours);
	hauli_host_free_routes(host);
	pthread_mutex_destroy(&host->lock);
	free(host->ports);
	free(host->owns);
	free(host->added);
	free(host->announcements);
	free(host);
}

/* A carrier with queues of all ports, NULL: there is none. */
static struct haul_carrier *find_carrier(struct haul_io *io)
{
	for (unsigned i = 0; i < io->nb_pollers; i++)
		if (haul_io_txq(io, 0, i))
			return haul_carrier(io->rt, i);
	return NULL;
}

/* What is known of a port once it is started. */
static void look_at_port(struct hauli_host_port *p, const struct haul_port *port)
{
	const struct rte_ether_addr mac = haul_port_mac(port);
	struct rte_eth_dev_info info;

	memcpy(p->mac, &mac, 6);
	p->mtu = hauli_port_mtu(port);
	p->offloads = port->config.tx_offloads;
	p->segments = rte_eth_dev_info_get(haul_port_queue(port, 0).port_id, &info) == 0 &&
		(info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS);
}

static int begin(struct haul_host *host, struct haul_io *io)
{
	int err;

	pthread_mutex_lock(&host->lock);
	for (unsigned i = 0; i < host->opts.nb_ports; i++)
		look_at_port(&host->ports[i], io->ports[i]);
	host->nb_announcements = 0;
	for (unsigned i = 0; i < host->nb_owns; i++)
		hauli_detect_begin(host, &host->owns[i]);
	host->rt = io->rt;
	pthread_mutex_unlock(&host->lock);
	err = hauli_host_publish(host);
	if (err)
		return err;
	host->carrier = find_carrier(io);
	for (unsigned i = 0; i < host->opts.nb_ports; i++)
		hauli_neigh_open(host->ports[i].neighbours);
	hauli_ptr_published_set(&host->io, io);
	return host->carrier ? 0 : -ECANCELED;
}

static void end(struct haul_host *host)
{
	pthread_mutex_lock(&host->lock);
	hauli_ptr_published_set(&host->io, NULL);
	hauli_host_changed(host);
	pthread_mutex_unlock(&host->lock);
	hauli_flows_stop(host);
	for (unsigned i = 0; i < host->opts.nb_ports; i++)
		hauli_neigh_close(host->ports[i].neighbours);
	/* After this no carrier uses an io or routes that it has read before. */
	(void)hauli_host_quiesce(host->rt);
	hauli_flows_free_closed(host);
	pthread_mutex_lock(&host->lock);
	host->rt = NULL;
	pthread_mutex_unlock(&host->lock);
}

int haul_host_start(struct haul_host *host, struct haul_io *io, char *errbuf, size_t errlen)
{
	const struct haul_coro_opts opts = {.name = "host", .pinned = true};
	int err;

	HAUL_MISUSE_IF(!host || !io, "NULL is given; give a host and an io");
	if (host->coroutine) {
		snprintf(errbuf, errlen, "haul_host_start: it is started already");
		return -EBUSY;
	}
	if (io->opts.nb_ports != host->opts.nb_ports) {
		snprintf(errbuf, errlen,
			"haul_host_start: the io has %u ports, the host %u "
			"(haul_host_opts.nb_ports)",
			io->opts.nb_ports, host->opts.nb_ports);
		return -EINVAL;
	}
	for (unsigned i = 0; i < io->opts.nb_ports; i++) {
		const struct rte_ether_addr mac = haul_port_mac(io->ports[i]);

		if (!rte_is_zero_ether_addr(&mac))
			continue;
		snprintf(errbuf, errlen,
			"haul_host_start: port '%s' has no device yet, whose address a host needs",
			haul_port_spec(io->ports[i]));
		return -ENODEV;
	}
	err = hauli_flows_start(host, io);
	if (err) {
		snprintf(errbuf, errlen, "haul_host_start: %s", strerror(-err));
		return err;
	}
	err = begin(host, io);
	if (!err)
		err = haul_spawn_on(host->carrier, &host->coroutine, hauli_host_ask, host, &opts);
	if (err) {
		end(host);
		snprintf(errbuf, errlen, "haul_host_start: %s", strerror(-err));
	}
	return err;
}

void haul_host_stop(struct haul_host *host)
{
	HAUL_MISUSE_IF(!host, "NULL is given; give what haul_host_create() has given");
	if (!host->coroutine)
		return;
	end(host);
	haul_cancel(host->coroutine);
	(void)haul_join(host->coroutine, NULL, HAUL_FOREVER);
	host->coroutine = NULL;
}
