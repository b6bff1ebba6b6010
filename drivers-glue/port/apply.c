/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/apply.h"

#include <errno.h>
#include <string.h>

#include "eal/log.h"
#include "port/check.h"

static int refuse(const struct haul_port *port, const struct hauli_change *change, int err,
	const char *line, char *errbuf, size_t errlen)
{
	struct rte_eth_dev_info info;
	const char *driver = "";

	if (rte_eth_dev_info_get(port->vdevs[0].port_id, &info) == 0)
		driver = info.driver_name;
	if (err == -ENOTSUP || err == -ENOSYS)
		return hauli_spec_fail(&port->spec, -ENOTSUP, errbuf, errlen,
			"its PMD %s has no %s", driver, change->what);
	if (err == -1)
		err = -EIO;
	return hauli_spec_fail(&port->spec, err, errbuf, errlen, "%s: its PMD %s refuses: %s",
		change->what, driver, line[0] ? line : strerror(-err));
}

int hauli_port_apply(
	struct haul_port *port, const struct hauli_change *change, char *errbuf, size_t errlen)
{
	char line[HAULI_LOG_LINE];
	int err = hauli_check_attached(port, errbuf, errlen);

	if (err < 0)
		return err;
	hauli_log_hold();
	for (unsigned i = 0; i < port->nb_vdevs && err == 0; i++)
		err = change->fn(port->vdevs[i].port_id, change);
	hauli_log_release(line);
	return err < 0 ? refuse(port, change, err, line, errbuf, errlen) : 0;
}
