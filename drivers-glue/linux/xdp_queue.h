/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks that a queue of an interface is free for an XDP socket. */
#ifndef HAULI_LINUX_XDP_QUEUE_H
#define HAULI_LINUX_XDP_QUEUE_H

/*
 * The kernel releases a queue some time after the close of its socket, in this program or an
 * earlier one; until then the queue is busy. Waits for the release, up to two seconds. For
 * interfaces without a device of their own, where packets are copied. 0, -EBUSY, or another -errno:
 * not known.
 */
int hauli_xdp_queue_wait(const char *iface, unsigned queue);

#endif
