/* SPDX-License-Identifier: BSD-3-Clause */
/* Single queues of a port. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>

#include "base/assert.h"
#include "eal/log.h"
#include "port/check.h"
#include "port/control/reconfigure.h"
#include "port/kind.h"

int haul_port_get_queue_info(
	const struct haul_port *port, unsigned queue, bool rx, struct haul_queue_info *info)
{
	struct hauli_queue_own own;
	struct haul_queue q;
	int err;

	HAUL_MISUSE_IF(!port || !info, HAULI_NO_PORT);
	err = hauli_check_queue(port, queue, &q);
	if (err < 0)
		return err;
	own = hauli_queue_own(port, queue, rx);
	*info = (struct haul_queue_info){
		.offloads = own.offloads,
		.deferred = own.deferred,
		.stopped = own.stopped || !port->vdevs[0].started,
	};
	err = rx ? rte_eth_rx_queue_info_get(q.port_id, q.queue_id, &info->rx)
		 : rte_eth_tx_queue_info_get(q.port_id, q.queue_id, &info->tx);
	info->has_mode = err == 0 &&
		(rx ? rte_eth_rx_burst_mode_get : rte_eth_tx_burst_mode_get)(
			q.port_id, q.queue_id, &info->mode) == 0;
	return err;
}

/* Makes room for what queues have of their own. */
static bool make_own(struct haul_port *port)
{
	if (!port->rx_own)
		port->rx_own = calloc(port->queues, sizeof(port->rx_own[0]));
	if (!port->tx_own)
		port->tx_own = calloc(port->queues, sizeof(port->tx_own[0]));
	return port->rx_own && port->tx_own;
}

static int check_queue(
	struct haul_port *port, unsigned queue, const char *changed, char *errbuf, size_t errlen)
{
	int err = hauli_check_unpolled(port, changed, errbuf, errlen);

	if (err < 0)
		return err;
	if (queue >= haul_port_queues(port))
		return hauli_spec_fail(&port->spec, -EINVAL, errbuf, errlen,
			"there is no queue %u; it has %u", queue, haul_port_queues(port));
	if (!make_own(port))
		return hauli_spec_fail(&port->spec, -ENOMEM, errbuf, errlen, "no memory");
	return 0;
}

/* Offloads of single queues, which the whole port has not. */
static int check_own(
	const struct haul_port *port, bool rx, uint64_t offloads, char *errbuf, size_t errlen)
{
	struct rte_eth_dev_info info;
	int err = rte_eth_dev_info_get(port->vdevs[0].port_id, &info);
	uint64_t missing;

	if (err < 0)
		return err;
	missing = offloads &
		~(rx ? info.rx_queue_offload_capa | port->config.rx_offloads
		     : info.tx_queue_offload_capa | port->config.tx_offloads);
	if (!missing)
		return 0;
	missing &= -missing;
	return hauli_spec_fail(&port->spec, -ENOTSUP, errbuf, errlen,
		"its PMD %s has no %s offload %s for single queues", info.driver_name,
		rx ? "receive" : "transmit",
		rx ? rte_eth_dev_rx_offload_name(missing) : rte_eth_dev_tx_offload_name(missing));
}

int haul_port_set_queue(struct haul_port *port, unsigned queue, bool rx, uint64_t offloads,
	bool deferred, char *errbuf, size_t errlen)
{
	struct hauli_queue_own *own, before;
	char line[HAULI_LOG_LINE];
	int err;

	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	err = check_queue(port, queue, "configured", errbuf, errlen);
	if (err == 0)
		err = check_own(port, rx, offloads, errbuf, errlen);
	if (err < 0)
		return err;
	own = rx ? &port->rx_own[queue] : &port->tx_own[queue];
	before = *own;
	own->offloads = offloads;
	own->deferred = deferred;
	err = hauli_port_reconfigure(port, errbuf, errlen);
	if (err < 0) {
		*own = before;
		(void)hauli_port_reconfigure(port, line, sizeof(line));
	}
	return err;
}

int haul_port_switch_queue(
	struct haul_port *port, unsigned queue, bool rx, bool start, char *errbuf, size_t errlen)
{
	char line[HAULI_LOG_LINE];
	struct haul_queue q;
	int err;

	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	err = check_queue(port, queue, "stopped in part", errbuf, errlen);
	if (err < 0)
		return err;
	q = haul_port_queue(port, queue);
	hauli_log_hold();
	if (rx)
		err = start ? rte_eth_dev_rx_queue_start(q.port_id, q.queue_id)
			    : rte_eth_dev_rx_queue_stop(q.port_id, q.queue_id);
	else
		err = start ? rte_eth_dev_tx_queue_start(q.port_id, q.queue_id)
			    : rte_eth_dev_tx_queue_stop(q.port_id, q.queue_id);
	hauli_log_release(line);
	if (err == -ENOTSUP)
		return hauli_spec_fail(&port->spec, err, errbuf, errlen,
			"its PMD does not %s single queues", start ? "start" : "stop");
	if (err)
		return hauli_spec_fail(&port->spec, err, errbuf, errlen, "queue %u: %s", queue,
			line[0] ? line : strerror(-err));
	(rx ? port->rx_own : port->tx_own)[queue].stopped = !start;
	return 0;
}
