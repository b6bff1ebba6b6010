/* SPDX-License-Identifier: BSD-3-Clause */
/* Transmission through a carrier's own queues. */
#ifndef HAULI_IO_TX_H
#define HAULI_IO_TX_H

#include "io/state.h"

/* Gives packets of the transmit queues to the NIC until it takes no more, and drops packets that it
 * refuses. On the poller's stack. */
void hauli_tx_flush(struct hauli_poller *p);

/* Drops the packets in the transmit queues, and closes the queues. */
void hauli_tx_close(struct hauli_poller *p);

#endif
