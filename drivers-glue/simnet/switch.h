/* SPDX-License-Identifier: BSD-3-Clause */
/* A switch: it learns by which link an address came, and floods what it does not know. */
#ifndef HAULI_SIMNET_SWITCH_H
#define HAULI_SIMNET_SWITCH_H

#include "simnet/net.h"

struct hauli_switch *hauli_switch_new(void);
/* out: from the switch. */
void hauli_switch_add(struct hauli_switch *s, struct hauli_simlink *out);
/* by: to the switch. */
void hauli_switch_forward(
	struct hauli_switch *s, const struct hauli_simlink *by, struct hauli_frame *frame);

#endif
