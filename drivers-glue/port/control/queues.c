/* SPDX-License-Identifier: BSD-3-Clause */
/* The number of a port's queues. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/assert.h"
#include "eal/log.h"
#include "port/callbacks.h"
#include "port/check.h"
#include "port/control/reconfigure.h"
#include "port/detach.h"
#include "port/port.h"

static void forget_own(struct haul_port *port)
{
	free(port->rx_own);
	free(port->tx_own);
	port->rx_own = port->tx_own = NULL;
}

static int check(const struct haul_port *port, unsigned queues, char *errbuf, size_t errlen)
{
	struct rte_eth_dev_info info;
	unsigned most = UINT16_MAX;
	int err = 0;

	if (queues == port->queues)
		return 0;
	if (port->polled > 0)
		return hauli_check_unpolled(port, "given other queues", errbuf, errlen);
	if (port->agreed)
		return hauli_spec_fail(&port->spec, -EINVAL, errbuf, errlen,
			"it has %u queue%s, as the other side; queues=N in the spec says how many",
			port->queues, port->queues == 1 ? "" : "s");
	if (!port->detached && port->spec.kind->takes_queues) {
		err = rte_eth_dev_info_get(port->vdevs[0].port_id, &info);
		most = RTE_MIN(info.max_rx_queues, info.max_tx_queues);
	}
	if (err < 0)
		return err;
	if (queues >= 1 && queues <= most)
		return 0;
	return hauli_spec_fail(
		&port->spec, -EINVAL, errbuf, errlen, "%u queues: it has 1 to %u", queues, most);
}

/* PMDs sum the counters of the queues that there are. */
static void keep_counts(struct haul_port *port, const struct rte_eth_stats *before)
{
	struct rte_eth_stats *last = &port->last, now;

	(void)hauli_port_stats(port, &now);
#define KEEP(field) last->field += before->field > now.field ? before->field - now.field : 0
	KEEP(ipackets);
	KEEP(opackets);
	KEEP(ibytes);
	KEEP(obytes);
	KEEP(imissed);
	KEEP(ierrors);
	KEEP(oerrors);
	KEEP(rx_nombuf);
#undef KEEP
}

/* Of a device that stays. */
static int reconfigure(struct haul_port *port, unsigned queues, char *errbuf, size_t errlen)
{
	const unsigned before = port->queues;
	struct rte_eth_stats stats;
	char line[HAULI_LOG_LINE];
	int err;

	(void)hauli_port_stats(port, &stats);
	hauli_rx_callbacks_disconnect(port);
	port->queues = queues;
	err = hauli_port_reconfigure(port, errbuf, errlen);
	if (err < 0) {
		port->queues = before;
		(void)hauli_port_reconfigure(port, line, sizeof(line));
	}
	hauli_rx_callbacks_connect(port);
	keep_counts(port, &stats);
	return err;
}

/* Of a device whose queues are arguments of its PMD, or devices of their own. */
static int reopen(struct haul_port *port, unsigned queues, char *errbuf, size_t errlen)
{
	const unsigned before = port->queues;
	const bool started = port->vdevs[0].started;
	char line[HAULI_LOG_LINE];
	int err;

	hauli_port_detach(port);
	port->queues = queues;
	err = hauli_port_reopen(port, errbuf, errlen);
	if (err < 0) {
		port->queues = before;
		(void)hauli_port_reopen(port, line, sizeof(line));
	}
	if (!started && !port->detached)
		(void)haul_port_stop(port, line, sizeof(line));
	return err;
}

int haul_port_set_queues(struct haul_port *port, unsigned queues, char *errbuf, size_t errlen)
{
	int err;

	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	err = check(port, queues, errbuf, errlen);
	if (err < 0 || queues == port->queues)
		return err;
	forget_own(port);
	if (port->detached) {
		port->queues = queues; /* of its next device */
		return 0;
	}
	return (port->spec.kind->takes_queues ? reconfigure : reopen)(port, queues, errbuf, errlen);
}
