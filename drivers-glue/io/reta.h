/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves of buckets by the redirection table of a port's device. */
#ifndef HAULI_IO_RETA_H
#define HAULI_IO_RETA_H

#include "io/move.h"

hauli_move_fn hauli_move_entry; /* as haul_io_move_bucket() */

#endif
