/* SPDX-License-Identifier: BSD-3-Clause */
/* haul_io_notice()'s text about queues that may lose packets, and about slow carriers. */
#ifndef HAULI_IO_NOTICE_H
#define HAULI_IO_NOTICE_H

#include "io/state.h"

/* Adds the possible losses to the notice. Call once, when all pollers exist. */
void hauli_io_note(struct haul_io *io);

#endif
