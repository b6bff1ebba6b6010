/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A bounded channel: a ring of values, and the waiting senders and receivers. At most one of the
 * two lists is not empty: receivers wait while the ring is empty and no sender waits, senders while
 * it is full. A value goes straight to a receiver that waits, and a receiver that makes room takes
 * the value of the first sender into the ring. So values come out in the order of their sends.
 */
#include "sync/chan.h"

#include <stdlib.h>
#include <string.h>

#define NULL_CHAN "the channel is NULL"

int haul_chan_create(struct haul_chan **out, size_t size, unsigned count)
{
	struct haul_chan *ch;

	if (!out || size == 0 || size > HAUL_CHAN_SIZE_MAX || count > HAUL_CHAN_COUNT_MAX)
		return -EINVAL;
	ch = malloc(sizeof(*ch) + size * count);
	if (!ch)
		return -ENOMEM;
	*ch = (struct haul_chan){.size = size, .count = count};
	*out = ch;
	return 0;
}

void haul_chan_destroy(struct haul_chan *ch)
{
	if (!ch)
		return;
	HAUL_MISUSE_IF(ch->q.list.first || ch->senders.first,
		"coroutines wait in channel %p; close it, and join them, before", (void *)ch);
	free(ch);
}

static inline void *value_at(struct haul_chan *ch, unsigned place)
{
	unsigned i = ch->first + place;

	return ch->values + (size_t)(i < ch->count ? i : i - ch->count) * ch->size;
}

static void put(struct haul_chan *ch, const void *value)
{
	memcpy(value_at(ch, ch->used++), value, ch->size);
}

static void take(struct haul_chan *ch, void *value)
{
	memcpy(value, value_at(ch, 0), ch->size);
	ch->used--;
	if (++ch->first == ch->count)
		ch->first = 0;
}

/* Under the lock. True: done, with *err. */
static bool try_send(struct haul_chan *ch, const void *value, int *err)
{
	struct hauli_waiter *receiver = ch->q.list.first;

	*err = 0;
	if (ch->closed) {
		*err = -EPIPE;
	} else if (receiver) {
		memcpy(hauli_sync_wait_of(receiver)->value, value, ch->size);
		hauli_waitq_serve(&ch->q.list, 0);
	} else if (ch->used < ch->count) {
		put(ch, value);
	} else {
		return false;
	}
	return true;
}

static bool try_recv(struct haul_chan *ch, void *value, int *err)
{
	struct hauli_waiter *sender = ch->senders.first;

	*err = 0;
	if (ch->used > 0) {
		take(ch, value);
		if (sender)
			put(ch, hauli_sync_wait_of(sender)->value);
	} else if (sender) { /* the channel holds no values */
		memcpy(value, hauli_sync_wait_of(sender)->value, ch->size);
	} else if (ch->closed) {
		*err = -EPIPE;
	} else {
		return false;
	}
	if (sender)
		hauli_waitq_serve(&ch->senders, 0);
	return true;
}

/* Under the lock of a closed channel. */
static void send_away(struct haul_chan *ch)
{
	hauli_waitq_serve_some(&ch->q.list, -EPIPE);
	hauli_waitq_serve_some(&ch->senders, -EPIPE);
}

static void leave_senders(struct hauli_waitq *q, struct hauli_sync_wait *w)
{
	hauli_wait_list_leave(&((struct haul_chan *)q)->senders, &w->waiter);
}

/* Under the lock: waits in one of the lists, after a try that has failed. */
static int wait_in(
	struct haul_chan *ch, bool sends, void *value, uint64_t deadline, struct hauli_sync_wait *w)
{
	int err;

	if (deadline == 0) {
		hauli_waitq_unlock(&ch->q, 0);
		return -EAGAIN;
	}
	w->value = value;
	hauli_waitq_enter(
		sends ? &ch->senders : &ch->q.list, w, hauli_here()->current, deadline, true);
	hauli_waitq_unlock(&ch->q, 0);
	err = hauli_waitq_wait(&ch->q, w, sends ? leave_senders : hauli_waitq_leave);
	if (hauli_unlikely(w->goes_on)) {
		(void)hauli_waitq_lock(&ch->q);
		send_away(ch);
		hauli_waitq_unlock(&ch->q, 0);
	}
	return err;
}

int hauli_chan_send_with(
	struct haul_chan *ch, const void *value, uint64_t deadline, struct hauli_sync_wait *w)
{
	int err;

	(void)hauli_waitq_lock(&ch->q);
	if (!try_send(ch, value, &err))
		return wait_in(ch, true, (void *)(uintptr_t)value, deadline, w);
	hauli_waitq_unlock(&ch->q, 0);
	return err;
}

int hauli_chan_recv_with(
	struct haul_chan *ch, void *value, uint64_t deadline, struct hauli_sync_wait *w)
{
	int err;

	(void)hauli_waitq_lock(&ch->q);
	if (!try_recv(ch, value, &err))
		return wait_in(ch, false, value, deadline, w);
	hauli_waitq_unlock(&ch->q, 0);
	return err;
}

int haul_chan_send(struct haul_chan *ch, const void *value, uint64_t deadline)
{
	struct haul_carrier *c = hauli_here();
	struct hauli_sync_wait w;
	int err;

	HAUL_MISUSE_IF(!ch || !value, "the channel or the value is NULL");
	err = hauli_waitq_check(c, c->current, __func__, deadline);
	return hauli_unlikely(err) ? err : hauli_chan_send_with(ch, value, deadline, &w);
}

int haul_chan_recv(struct haul_chan *ch, void *value, uint64_t deadline)
{
	struct haul_carrier *c = hauli_here();
	struct hauli_sync_wait w;
	int err;

	HAUL_MISUSE_IF(!ch || !value, "the channel or the value is NULL");
	err = hauli_waitq_check(c, c->current, __func__, deadline);
	return hauli_unlikely(err) ? err : hauli_chan_recv_with(ch, value, deadline, &w);
}

void haul_chan_close(struct haul_chan *ch)
{
	HAUL_MISUSE_IF(!ch, NULL_CHAN);
	(void)hauli_waitq_lock(&ch->q);
	ch->closed = true;
	send_away(ch);
	hauli_waitq_unlock(&ch->q, 0);
}
