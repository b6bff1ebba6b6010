/* SPDX-License-Identifier: BSD-3-Clause */
/* What haul_io_notice() says of queues that may lose packets. */
#ifndef HAULI_IO_NOTICE_H
#define HAULI_IO_NOTICE_H

#include "io/state.h"

/* Adds to the notice what may be lost. Once, when all pollers are there. */
void hauli_io_note(struct haul_io *io);

#endif
