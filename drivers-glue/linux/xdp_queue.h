/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a queue of an interface is free for an XDP socket. */
#ifndef HAULI_LINUX_XDP_QUEUE_H
#define HAULI_LINUX_XDP_QUEUE_H

/*
 * The kernel lets go of a queue some time after its socket was closed, in this program or one
 * before, and until then it is busy. Waits for that, up to two seconds. For interfaces without a
 * device of their own, where packets are copied. 0, -EBUSY, or another -errno: it cannot be known.
 */
int hauli_xdp_queue_wait(const char *iface, unsigned queue);

#endif
