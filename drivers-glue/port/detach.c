/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/detach.h"

#include <string.h>

#include "eal/log.h"
#include "port/callbacks.h"
#include "port/ethdev.h"
#include "port/flows.h"
#include "port/missed.h"
#include "port/watch.h"
#include "port/xstats.h"

void hauli_port_close_device(struct haul_port *port)
{
	struct rte_flow_error error;
	char line[HAULI_LOG_LINE];

	if (port->nb_vdevs == 0)
		return;
	hauli_callbacks_disconnect(port);
	if (port->kind->prints)
		hauli_log_hold_all();
	else
		hauli_log_hold();
	(void)hauli_flows_end(port, &error);
	if (port->kind->release)
		port->kind->release(port);
	hauli_ethdevs_detach(port);
	if (port->kind->closed)
		port->kind->closed(port);
	port->own = NULL; /* the next device's is another one */
	hauli_log_release(line);
}

int hauli_port_stats(const struct haul_port *port, struct rte_eth_stats *stats)
{
	struct rte_eth_stats one;
	int err = 0;

	*stats = port->last;
	if (port->detached)
		return 0;
	for (unsigned i = 0; i < port->nb_vdevs; i++) {
		int failed = rte_eth_stats_get(port->vdevs[i].port_id, &one);

		if (failed < 0) {
			err = err ? err : failed;
			continue;
		}
		stats->ipackets += one.ipackets;
		stats->opackets += one.opackets;
		stats->ibytes += one.ibytes;
		stats->obytes += one.obytes;
		stats->imissed += one.imissed;
		stats->ierrors += one.ierrors;
		stats->oerrors += one.oerrors;
		stats->rx_nombuf += one.rx_nombuf;
	}
	return err;
}

void hauli_port_detach(struct haul_port *port)
{
	struct rte_eth_stats last;

	(void)hauli_missed(port); /* remembers them */
	(void)hauli_port_stats(port, &last);
	port->last = last;
	hauli_xstats_keep(port);
	hauli_watch_detach(port);
	hauli_port_close_device(port);
	port->waitable = false;
	port->detached = true;
}
