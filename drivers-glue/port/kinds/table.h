/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding a kind of port. */
#ifndef HAULI_PORT_KINDS_TABLE_H
#define HAULI_PORT_KINDS_TABLE_H

#include "port/kinds/list.h"

/* All kinds that a spec can name; ends with NULL. */
extern const struct hauli_kind *const hauli_kinds[];

/* The kind of that name; NULL. */
const struct hauli_kind *hauli_kind_find(const char *name, size_t len);

/* The kind whose functions serve a port with that spec: for a raw vdev ("net_tap0") the kind with
 * that driver, if there is one; else the spec's own. */
const struct hauli_kind *hauli_kind_of_spec(const struct hauli_spec *spec);

#endif
