/* SPDX-License-Identifier: BSD-3-Clause */
/* Packet buffers that did not come back to their pool, or came back twice. */
#ifndef HAULI_IO_LOST_H
#define HAULI_IO_LOST_H

#include <stddef.h>

#include <rte_mempool.h>

/*
 * Call when nobody uses the pool. Returns 0 if each buffer is free, and free once; else -EIO, with
 * one line in errbuf. Costs only if it finds one: then it reads all buffers of the pool.
 */
int hauli_lost_check(struct rte_mempool *pool, char *errbuf, size_t errlen);

#endif
