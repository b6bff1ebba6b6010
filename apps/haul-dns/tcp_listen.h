/* SPDX-License-Identifier: BSD-3-Clause */
/* A socket of the kernel's that listens. */
#ifndef DNS_TCP_LISTEN_H
#define DNS_TCP_LISTEN_H

#include <stddef.h>
#include <stdint.h>

/*
 * text: ADDR, ADDR:PORT, [ADDR] or [ADDR]:PORT; without a port it is 53; port 0: the kernel chooses
 * one. Returns the socket, which is the caller's, and *port; or -errno with a line in errbuf.
 */
int dns_tcp_listen(const char *text, uint16_t *port, char *errbuf, size_t errlen);

/* The same of a socket that listens already. Returns fd, or -errno. */
int dns_tcp_take(int fd, uint16_t *port);

#endif
