/* SPDX-License-Identifier: BSD-3-Clause */
/* A port without a device. */
#ifndef HAULI_IO_DETACH_H
#define HAULI_IO_DETACH_H

#include "io/state.h"

/* Takes out the ports that have none from the start. No poller runs yet. */
void hauli_io_begin_without(struct haul_io *io);

/* Before pollers start: takes out what they are not to use, and in what they are. */
void hauli_io_choose_queues(struct haul_io *io);

#endif
