/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/control/reconfigure.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "eal/log.h"
#include "port/detach.h"
#include "port/ethdev.h"
#include "port/flows.h"
#include "port/xstats.h"

/* Some PMDs keep their counters with the queues, which are set up anew. */
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

static int configure_anew(struct haul_port *port, char *errbuf, size_t errlen)
{
	bool started = port->vdevs[0].started;
	char line[HAULI_LOG_LINE], unread[HAULI_LOG_LINE];
	int err;

	if (errlen == 0) {
		errbuf = unread;
		errlen = sizeof(unread);
	}
	errbuf[0] = '\0';
	hauli_log_hold();
	hauli_flows_suspend(port);
	hauli_ethdevs_stop(port);
	err = hauli_ethdevs_reconfigure(port, errbuf, errlen);
	if (started && hauli_ethdevs_start(port, errbuf, errlen) < 0 && err == 0)
		err = -EIO;
	hauli_flows_resume(port);
	hauli_log_release(line);
	if (err < 0 && errbuf[0] == '\0')
		err = hauli_spec_fail(&port->spec, err == -1 ? -EIO : err, errbuf, errlen,
			"cannot be configured so: %s", line[0] ? line : strerror(-err));
	return err;
}

int hauli_port_reconfigure(struct haul_port *port, char *errbuf, size_t errlen)
{
	struct haul_port_xstat *xstats = NULL;
	struct rte_eth_stats stats;
	int n, err;

	if (!port->vdevs[0].started && port->kind->configures_late) {
		port->late = true;
		return 0;
	}
	(void)hauli_port_stats(port, &stats);
	n = hauli_xstats_read_all(port, &xstats);
	err = configure_anew(port, errbuf, errlen);
	keep_counts(port, &stats);
	hauli_xstats_go_on(port, xstats, n);
	free(xstats);
	return err;
}
