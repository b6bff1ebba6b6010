/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of haul/sync.h, with the caller's wait, after the check of arguments. */
#ifndef HAULI_SYNC_CHAN_H
#define HAULI_SYNC_CHAN_H

#include "sync/waitq.h"

struct haul_chan {
	struct hauli_waitq q; /* its list: the receivers */
	struct hauli_wait_list senders;
	size_t size;
	unsigned used; /* values in it */
	unsigned limit; /* no more values than this; 0 when it is closed */
	unsigned char *in, *out; /* where the next value goes, where the oldest is */
	unsigned char *end; /* of the values. Constant */
	bool closed;
	bool destroyed; /* then it is closed, too, so only slow paths look at this */
	unsigned char values[];
};

/* Sends without a wait. most: more values the channel must not hold after that, whatever its room.
 * Any thread. Returns the number of values that it holds now, which is 0 if a receiver that waited
 * has got the value; -EAGAIN: there is no room; -EPIPE: it is closed. */
int hauli_chan_post(struct haul_chan *ch, const void *value, unsigned most);
/* The number of values in it. Any thread. */
unsigned hauli_chan_used(struct haul_chan *ch);

int hauli_chan_send_with(
	struct haul_chan *ch, const void *value, uint64_t deadline, struct hauli_sync_wait *w);
int hauli_chan_recv_with(
	struct haul_chan *ch, void *value, uint64_t deadline, struct hauli_sync_wait *w);

#endif
