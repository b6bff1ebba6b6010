/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's facts about a network interface. Any thread; nothing is cached. */
#ifndef HAULI_LINUX_IFACE_H
#define HAULI_LINUX_IFACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if an interface can have this name. The kernel's calls accept more: they cut a name off at a
 * colon, and replace %d by a number. */
bool hauli_iface_is_name(const char *name);

/* Each is 0 if there is no such interface. */
int hauli_iface_index(const char *name);
unsigned hauli_iface_flags(const char *name); /* IFF_UP, ... */
unsigned hauli_iface_mtu(const char *name);
unsigned hauli_iface_backlog(const char *name); /* length of the queue in front of it */
int hauli_iface_set_backlog(const char *name, unsigned packets); /* 0 or -errno */

/* Mbit/s; 0: not known. */
unsigned hauli_iface_speed(const char *name);

/* True if it has a link: the other end of a veth is up, a TAP is in use. Known at once, while
 * IFF_RUNNING follows later. */
bool hauli_iface_has_link(const char *name);

/* Its queues, as ethtool calls them: channels. */
struct hauli_channels {
	unsigned rx; /* those that receive */
	unsigned both; /* pairs of a receive and a transmit queue */
	unsigned most; /* pairs */
	bool combined; /* ethtool -L sets them as combined; else as rx and tx */
};
/* False, and all 0: it does not tell. */
bool hauli_iface_channels(const char *name, struct hauli_channels *channels);
/* The same numbers; at least 1. */
unsigned hauli_iface_rx_queues(const char *name);
unsigned hauli_iface_queues(const char *name);

#define HAULI_IFACE_DRIVER 32
/* The name of its driver. False, and "": it does not tell. */
bool hauli_iface_driver(const char *name, char *driver, size_t size);

/* True if it is one end of a veth pair; peer (of IFNAMSIZ) gets the other end's name, or "" if that
 * is in another network namespace. */
bool hauli_iface_is_veth(const char *name, char *peer);

/* True if there is a device below it, and not only software. */
bool hauli_iface_has_device(const char *name);

/* True if an XDP program is attached to it. */
bool hauli_iface_has_xdp(const char *name);

/* The number of packets that it dropped instead of sending them: for a TAP, packets that were not
 * read in time. */
uint64_t hauli_iface_unsent(const char *name);

/* The number of packets that its NIC dropped because the driver had given it no buffer. */
uint64_t hauli_iface_missed(const char *name);

/* Sets its MTU. 0 or -errno. */
int hauli_iface_set_mtu(const char *name, unsigned mtu);

/* Passes one of ethtool's commands. 0 or -errno. */
int hauli_iface_ethtool(const char *name, void *command);

#endif
