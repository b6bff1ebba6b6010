/* SPDX-License-Identifier: BSD-3-Clause */
#include "net/given.h"

uint64_t hauli_pkt_given;
uint64_t hauli_pkt_handed;
int hauli_pkt_handler_at = -1;
