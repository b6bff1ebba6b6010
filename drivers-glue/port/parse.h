/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses a text into a spec of a kind of port. */
#ifndef HAULI_PORT_PARSE_H
#define HAULI_PORT_PARSE_H

#include "port/spec.h"

/* 0, or -EINVAL with a line in errbuf. */
int hauli_spec_parse(struct hauli_spec *spec, const char *text, char *errbuf, size_t errlen);

#endif
