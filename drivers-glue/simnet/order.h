/* SPDX-License-Identifier: BSD-3-Clause */
/* Order in flows: haul_sim_in_order(). */
#ifndef HAULI_SIMNET_ORDER_H
#define HAULI_SIMNET_ORDER_H

#include "simnet/link.h"

/* A frame is sent on a link: fails the run if it is behind one with a greater number. */
void hauli_order_look(const struct hauli_simlink *link, const struct hauli_frame *frame);
/* A link has moved or changed it: it is looked at no more, on no link. */
void hauli_order_spare(const struct hauli_frame *frame);

#endif
