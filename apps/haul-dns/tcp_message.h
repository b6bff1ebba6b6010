/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages on a TCP connection: each has its length in front, in two bytes (RFC 1035, 4.2.2). */
#ifndef DNS_TCP_MESSAGE_H
#define DNS_TCP_MESSAGE_H

#include <haul/base.h>

enum { DNS_TCP_PREFIX = 2 }; /* bytes of the length */

/* Sends a message of n bytes, 65,535 at most, with its length. Returns 0 or an error of
 * haul/fd.h. */
int dns_tcp_send(int fd, const uint8_t *msg, size_t n, uint64_t deadline) HAUL_SUSPENDS;

/* Receives exactly n bytes. Returns 0; -ECONNRESET: the peer has ended the connection before; or
 * another error of haul/fd.h. */
int dns_tcp_receive(int fd, uint8_t *to, size_t n, uint64_t deadline) HAUL_SUSPENDS;

#endif
