/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HAULI_IO_RESUME_H
#define HAULI_IO_RESUME_H

#include "io/state.h"

/* Handlers that have not ended. */
uint64_t hauli_io_in_flight(const struct haul_io *io);

#endif
