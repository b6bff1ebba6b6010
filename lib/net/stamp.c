/* SPDX-License-Identifier: BSD-3-Clause */
#include "net/stamp.h"

int hauli_pkt_stamp_at = -1;
