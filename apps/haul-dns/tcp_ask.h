/* SPDX-License-Identifier: BSD-3-Clause */
/* A question to a server over the kernel's TCP, as after a truncated reply (RFC 7766). */
#ifndef DNS_TCP_ASK_H
#define DNS_TCP_ASK_H

#include <haul/build.h>

/*
 * Connects, sends the question, and takes one message; what else the server sends is not read.
 * Whether it is the reply is for dns_reply_judge() to say. Returns its length, which may be 0, or
 *	-EINVAL     server is no address, or the question is longer than 65,535 bytes
 *	-EMSGSIZE   the message is longer than room
 *	-ECONNRESET the server has closed the connection before the end of the message
 *	-ETIMEDOUT, -ECANCELED, -EAGAIN and others of haul/fd.h, and those of socket(2), connect(2)
 * Any coroutine. question and reply are used only until it returns.
 */
int dns_tcp_ask(const struct haul_addr *server, uint16_t port, const uint8_t *question, size_t len,
	uint8_t *reply, size_t room, uint64_t deadline) HAUL_SUSPENDS;

#endif
