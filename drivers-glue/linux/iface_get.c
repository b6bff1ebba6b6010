/* SPDX-License-Identifier: BSD-3-Clause */
/* haul_iface_get(): an interface as a candidate for a port. */
#include <haul-dpdk/iface.h>

#include <errno.h>
#include <net/if.h>
#include <string.h>

#include "base/assert.h"
#include "linux/iface.h"
#include "linux/offloads.h"

_Static_assert(HAUL_IFACE_NAME == IFNAMSIZ, "a name of the kernel's must fit");

int haul_iface_get(struct haul_iface *iface, const char *name)
{
	struct hauli_channels channels;
	unsigned breaking;

	HAUL_MISUSE_IF(!iface || !name, "the address for the properties or the name is NULL");
	memset(iface, 0, sizeof(*iface));
	if (!hauli_iface_index(name))
		return -ENODEV;
	(void)hauli_iface_driver(name, iface->driver, sizeof(iface->driver));
	iface->up = hauli_iface_flags(name) & IFF_UP;
	iface->link = hauli_iface_has_link(name);
	iface->xdp = hauli_iface_has_xdp(name);
	iface->veth = hauli_iface_is_veth(name, iface->peer);
	iface->mtu = hauli_iface_mtu(name);
	(void)hauli_iface_channels(name, &channels);
	iface->queues = channels.both;
	iface->queues_most = channels.most;
	iface->combined = channels.combined;
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
