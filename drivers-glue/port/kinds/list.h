/* SPDX-License-Identifier: BSD-3-Clause */
/* All kinds of ports that a spec can name, in the order of --help. */
#ifndef HAULI_PORT_KINDS_LIST_H
#define HAULI_PORT_KINDS_LIST_H

#include "base/simulated.h"
#include "port/kind.h"

#if HAULI_SIM
#define HAULI_PORT_KIND_SIM(KIND) KIND(sim)
#else
#define HAULI_PORT_KIND_SIM(KIND)
#endif

/* clang-format off */
#define HAULI_PORT_KINDS(KIND) \
	KIND(tap) \
	KIND(afxdp) \
	KIND(afpacket) \
	KIND(memif) \
	KIND(vhost) \
	KIND(virtio_user) \
	KIND(pcap) \
	KIND(ring) \
	KIND(null) \
	KIND(empty) \
	KIND(pci) \
	HAULI_PORT_KIND_SIM(KIND)
/* clang-format on */

#define HAULI_PORT_KIND(name) extern const struct hauli_kind hauli_kind_##name;
HAULI_PORT_KINDS(HAULI_PORT_KIND)
HAULI_PORT_KIND(raw)
#undef HAULI_PORT_KIND

#endif
