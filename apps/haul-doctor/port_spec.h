/* SPDX-License-Identifier: BSD-3-Clause */
/* A port spec, or just its kind, as given to --port. */
#ifndef DOCTOR_PORT_SPEC_H
#define DOCTOR_PORT_SPEC_H

#include <stdbool.h>
#include <stddef.h>

#define PORT_SPEC_SIZE 512 /* more than haul takes */

struct doctor_port {
	char text[PORT_SPEC_SIZE]; /* as given, with secrets hidden */
	char kind[PORT_SPEC_SIZE]; /* "tap"; of a vdev of DPDK its name, "net_tap0" */
	bool whole; /* more than a kind */
	char parts[PORT_SPEC_SIZE]; /* what follows the kind, with NUL for each comma */
	const char *end; /* of parts */
};

/* Parses text. Returns 0, or -EINVAL with one line in errbuf. */
int port_spec_parse(struct doctor_port *port, const char *text, char *errbuf, size_t errlen);

/* The part before the keys, such as an interface; "": none. */
const char *port_spec_main(const struct doctor_port *port);

/* The value of a key; NULL if it is not given. */
const char *port_spec_get(const struct doctor_port *port, const char *key);

#endif
