/* SPDX-License-Identifier: BSD-3-Clause */
/* A port has its interface, socket or file for itself. */
#ifndef HAULI_PORT_ALONE_H
#define HAULI_PORT_ALONE_H

#include "port/kind.h"

/*
 * 0, or -EBUSY with a line if another open port has what this one is to have: iface ("": none is
 * known), what its spec names, or, once kind->prepare() has filled vdevs, what their arguments
 * name.
 */
int hauli_alone_check(const struct haul_port *port, const char *iface, char *errbuf, size_t errlen);

#endif
