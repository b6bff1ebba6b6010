/* SPDX-License-Identifier: BSD-3-Clause */
/* The number of a port's queues. */
#include <errno.h>
#include <stdio.h>

#include "base/assert.h"
#include "eal/log.h"
#include "port/callbacks.h"
#include "port/check.h"
#include "port/control/reconfigure.h"
#include "port/detach.h"
#include "port/ethdev.h"
#include "port/port.h"

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
		most = hauli_ethdev_queues_most(port, &info);
	}
	if (err < 0)
		return err;
	if (queues >= 1 && queues <= most)
		return 0;
	return hauli_spec_fail(
		&port->spec, -EINVAL, errbuf, errlen, "%u queues: it has 1 to %u", queues, most);
}

/* Of a device that stays. */
static int reconfigure(struct haul_port *port, unsigned queues, char *errbuf, size_t errlen)
{
	const unsigned before = port->queues;
	char line[HAULI_LOG_LINE];
	int err;

	hauli_callbacks_disconnect(port);
	port->queues = queues;
	err = hauli_port_reconfigure(port, errbuf, errlen);
	if (err < 0) {
		port->queues = before;
		(void)hauli_port_reconfigure(port, line, sizeof(line));
	}
	hauli_callbacks_connect(port);
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
	hauli_ethdevs_forget_own(port);
	if (port->detached) {
		port->queues = queues; /* of its next device */
		return 0;
	}
	return (port->spec.kind->takes_queues ? reconfigure : reopen)(port, queues, errbuf, errlen);
}
