/* SPDX-License-Identifier: BSD-3-Clause */
/* haul_iface_get(): an interface as a candidate for a port. */
#include <haul-dpdk/iface.h>

#include <errno.h>
#include <linux/ethtool.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "linux/iface.h"
#include "linux/offloads.h"

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

_Static_assert(HAUL_IFACE_NAME == IFNAMSIZ, "a name of the kernel's must fit");

static void get_queues(struct haul_iface *iface, const char *name)
{
	struct ethtool_channels ch = {.cmd = ETHTOOL_GCHANNELS};

	if (hauli_iface_ethtool(name, &ch) < 0)
		return;
	iface->combined = ch.max_combined > 0;
	iface->queues = iface->combined ? ch.combined_count : least(ch.rx_count, ch.tx_count);
	iface->queues_most = iface->combined ? ch.max_combined : least(ch.max_rx, ch.max_tx);
}

int haul_iface_get(struct haul_iface *iface, const char *name)
{
	struct ethtool_drvinfo info = {.cmd = ETHTOOL_GDRVINFO};
	unsigned breaking;

	HAUL_MISUSE_IF(!iface || !name, "the address for the properties or the name is NULL");
	memset(iface, 0, sizeof(*iface));
	if (!hauli_iface_index(name))
		return -ENODEV;
	if (hauli_iface_ethtool(name, &info) == 0)
		snprintf(iface->driver, sizeof(iface->driver), "%s", info.driver);
	iface->up = hauli_iface_flags(name) & IFF_UP;
	iface->link = hauli_iface_has_link(name);
	iface->xdp = hauli_iface_has_xdp(name);
	iface->veth = hauli_iface_is_veth(name, iface->peer);
	iface->mtu = hauli_iface_mtu(name);
	get_queues(iface, name);
	/* A veth passes on packets that the sender has not finished; a NIC only packets that it has
	 * merged. */
	breaking = HAULI_OFFLOAD_HARDWARE;
	if (iface->veth)
		breaking |= HAULI_OFFLOAD_SENDING | HAULI_OFFLOAD_RECEIVING;
	hauli_iface_offloads(name, breaking, iface->offloads, sizeof(iface->offloads));
	hauli_iface_fixed_offloads(
		name, breaking, iface->fixed_offloads, sizeof(iface->fixed_offloads));
	return 0;
}
