/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/control/reconfigure.h"

#include <errno.h>
#include <string.h>

#include "eal/log.h"
#include "port/ethdev.h"
#include "port/flows.h"

int hauli_port_reconfigure(struct haul_port *port, char *errbuf, size_t errlen)
{
	bool started = port->vdevs[0].started;
	char line[HAULI_LOG_LINE], unread[HAULI_LOG_LINE];
	int err;

	if (!started && port->kind->configures_late) {
		port->late = true;
		return 0;
	}
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
