/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handing ports over. The PMDs know nothing of it, so it happens below them: the queues of a TAP
 * are files that another process may have, too; packet sockets get copies, and filters of both
 * processes agree who takes which. The one that has handed over closes its ethdevs, which must not
 * set the interface down, or restore its modes.
 */
#include "port/hand_over.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>

#include "base/assert.h"

#define LOOK_US 50

bool haul_port_can_hand_over(const struct haul_port *port)
{
	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	return port->kind->hand_over != NULL;
}

int haul_port_make_offer(
	struct haul_port *port, struct haul_port_offer *offer, char *errbuf, size_t errlen)
{
	struct rte_ether_addr mac = {0};

	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	HAUL_MISUSE_IF(!offer, "the place for the offer is NULL");
	memset(offer, 0, sizeof(*offer));
	if (!port->kind->hand_over || port->detached)
		return hauli_spec_fail(&port->spec, -ENOTSUP, errbuf, errlen, "%s",
			port->detached ? "it has no device, which could be handed over"
				       : "its PMD keeps what another process would need");
	offer->queues = port->queues;
	offer->was_mtu = port->was_mtu;
	offer->was_promiscuous = port->was_promiscuous;
	(void)rte_eth_macaddr_get(port->vdevs[0].port_id, &mac);
	memcpy(offer->mac, &mac, sizeof(offer->mac));
	return port->kind->hand_over->offer(port, offer, errbuf, errlen);
}

void haul_port_keep(struct haul_port *port)
{
	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	if (port->kind->hand_over)
		port->kind->hand_over->keep(port);
}

int haul_port_hand_over(struct haul_port *port, uint64_t timeout_ns)
{
	const struct hauli_hand_over *h;
	uint64_t end = haul_in(timeout_ns);

	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	h = port->kind->hand_over;
	HAUL_MISUSE_IF(!h, "haul_port_make_offer() has refused it");
	port->handed_over = true;
	h->leave(port);
	while (h->is_drained && !h->is_drained(port)) {
		if (haul_now() > end)
			return -ETIMEDOUT;
		rte_delay_us_sleep(LOOK_US);
	}
	return 0;
}

int haul_port_take(struct haul_port *port, char *errbuf, size_t errlen)
{
	int err;

	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	HAUL_MISUSE_IF(!port->opts.offer, "it was opened without an offer");
	err = port->kind->hand_over->take(port, errbuf, errlen);
	if (err == 0)
		port->opts.offer = NULL; /* the next device is opened as any is */
	return err;
}

int hauli_port_apart(struct haul_port *port,
	int (*make)(struct haul_port *port, char *errbuf, size_t errlen), char *errbuf,
	size_t errlen)
{
	int here, err;

	here = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	if (here < 0 || unshare(CLONE_NEWNET) < 0) {
		err = -errno;
		if (here >= 0)
			close(here);
		return hauli_spec_fail(&port->spec, err, errbuf, errlen,
			"no network namespace of its own (%s), which handing over needs; run as "
			"root",
			strerror(-err));
	}
	err = make(port, errbuf, errlen);
	if (setns(here, CLONE_NEWNET) < 0)
		abort(); /* nothing would work any more */
	close(here);
	return err;
}
