/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults that last: links that are down or clogged, hosts that do not reach each other. */
#ifndef HAULI_SIMNET_WEATHER_H
#define HAULI_SIMNET_WEATHER_H

#include "simnet/link.h"

/* At a frame on the link: the first one in a second is an opportunity. */
void hauli_weather(struct hauli_simlink *l, const struct hauli_node *from);

#endif
