/* SPDX-License-Identifier: BSD-3-Clause */
/* The ledger: the fate of each packet. */
#ifndef HAULI_IO_LEDGER_H
#define HAULI_IO_LEDGER_H

#include "io/state.h"

/* Counts packets without a handler as dropped, and frees them. */
void hauli_drop_unhandled(
	struct hauli_rxq *r, struct rte_mbuf **pkts, uint16_t n, enum haul_drop reason);

/* Checks one carrier's ledger on one port, when nothing moves any more. False: one line in buf has
 * the error; where names the queue. */
bool hauli_ledger_check_rx(const struct hauli_rxq *r, const char *where, char *buf, size_t len);
bool hauli_ledger_check_tx(const struct hauli_tx *tx, const char *where, char *buf, size_t len);

#endif
