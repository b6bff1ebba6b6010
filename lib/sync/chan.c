/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A bounded channel: a ring of values, and the waiting senders and receivers. At most one of the
 * two lists is not empty: receivers wait while the ring is empty and no sender waits, senders while
 * it is full. A value goes straight to a receiver that waits, and a receiver that makes room takes
 * the value of the first sender into the ring. So values come out in the order of their sends.
 */
#include "sync/chan.h"

#include "base/assert.h"
#include "sync/case.h"

#include <stdlib.h>
#include <string.h>

#define NULL_CHAN "the channel is NULL"
#define NULL_CHAN_OR_VALUE "the channel or the value is NULL"
#define DESTROYED "channel %p was destroyed before; destroy it when nobody uses it any more"

/* Bytes before the channel, which free() overwrites with the allocator's own data. So a call finds
 * a destroyed channel as haul_chan_destroy() has left it, unless the memory has another use. */
#define ALLOCATORS 32

int haul_chan_create(struct haul_chan **out, size_t size, unsigned count)
{
	struct haul_chan *ch;
	char *memory;

	HAUL_MISUSE_IF(!out, "the address for the channel is NULL");
	if (size == 0 || size > HAUL_CHAN_SIZE_MAX || count > HAUL_CHAN_COUNT_MAX)
		return -EINVAL;
	memory = malloc(ALLOCATORS + sizeof(*ch) + size * count);
	if (!memory)
		return -ENOMEM;
	ch = (struct haul_chan *)(memory + ALLOCATORS);
	*ch = (struct haul_chan){.size = size, .limit = count, .in = ch->values, .out = ch->values};
	ch->end = ch->values + size * count;
	*out = ch;
	return 0;
}

void haul_chan_destroy(struct haul_chan *ch)
{
	if (!ch)
		return;
	HAUL_MISUSE_IF(ch->destroyed, DESTROYED, (void *)ch);
	HAUL_MISUSE_IF(ch->q.list.first || ch->senders.first,
		"coroutines wait in channel %p; close it, and join them, before", (void *)ch);
	ch->limit = ch->used = 0;
	ch->closed = ch->destroyed = true;
	__asm__ volatile("" : : "r"(ch) : "memory"); /* or the compiler leaves out these stores */
	free((char *)ch - ALLOCATORS);
}

/* Values are often pointers or numbers: those need no call. */
static inline void copy(void *to, const void *from, size_t size)
{
	if (hauli_likely(size == sizeof(uint64_t)))
		memcpy(to, from, sizeof(uint64_t));
	else
		memcpy(to, from, size);
}

static inline unsigned char *after(struct haul_chan *ch, unsigned char *at)
{
	return at + ch->size == ch->end ? ch->values : at + ch->size;
}

static inline void put(struct haul_chan *ch, const void *value)
{
	copy(ch->in, value, ch->size);
	ch->in = after(ch, ch->in);
	ch->used++;
}

static inline void take(struct haul_chan *ch, void *value)
{
	copy(value, ch->out, ch->size);
	ch->out = after(ch, ch->out);
	ch->used--;
}

static inline void lock(struct haul_chan *ch)
{
	(void)hauli_waitq_lock(&ch->q);
}

/* A channel's word has no value, and its bit for waiters is not used. */
static inline void unlock(struct haul_chan *ch)
{
	hauli_lockword_unlock(&ch->q.word, 0);
}

/* Under the lock, the common cases: no waiter to serve. False: nothing was done. */
static inline bool send_fast(struct haul_chan *ch, const void *value)
{
	if (hauli_unlikely(ch->q.list.first || ch->used >= ch->limit))
		return false;
	put(ch, value);
	return true;
}

static inline bool recv_fast(struct haul_chan *ch, void *value)
{
	if (hauli_unlikely(ch->senders.first || ch->used == 0))
		return false;
	take(ch, value);
	return true;
}

/* Under the lock. True: done, with *err. *other: the waiter on the other side that is to be served,
 * or NULL. */
static bool try_send(
	struct haul_chan *ch, const void *value, int *err, struct hauli_sync_waiter **other)
{
	*err = 0;
	*other = NULL;
	if (ch->closed) {
		*err = -EPIPE;
		return true;
	}
	*other = hauli_waitq_take(&ch->q.list, 0);
	if (!*other)
		return send_fast(ch, value);
	copy((*other)->value, value, ch->size);
	return true;
}

static bool try_recv(struct haul_chan *ch, void *value, int *err, struct hauli_sync_waiter **other)
{
	*err = 0;
	*other = hauli_waitq_take(&ch->senders, 0);
	if (ch->used > 0) {
		take(ch, value);
		if (*other)
			put(ch, (*other)->value);
	} else if (*other) { /* the channel holds no values */
		copy(value, (*other)->value, ch->size);
	} else if (ch->closed) {
		*err = -EPIPE;
	} else {
		return false;
	}
	return true;
}

/* The caller has the lock of a closed channel. Unlocks it. */
static void send_away(struct haul_chan *ch)
{
	struct hauli_waiter *receivers = hauli_waitq_take_some(&ch->q.list, -EPIPE);
	struct hauli_waiter *senders = hauli_waitq_take_some(&ch->senders, -EPIPE);

	unlock(ch);
	hauli_waitq_serve_some(receivers);
	hauli_waitq_serve_some(senders);
}

static struct haul_chan *chan_of(struct hauli_waitq *q)
{
	return (struct haul_chan *)q;
}

static struct hauli_wait_list *senders_of(struct hauli_waitq *q)
{
	return &chan_of(q)->senders;
}

static void leave_senders(struct hauli_waitq *q, struct hauli_sync_waiter *w)
{
	hauli_wait_list_leave(&chan_of(q)->senders, &w->waiter);
}

/* The channel is closed, and this coroutine was served. */
static void serve_rest(struct hauli_waitq *q)
{
	lock(chan_of(q));
	send_away(chan_of(q));
}

/* Under the lock: waits in one of the lists, after a try that has failed. */
static int wait_in(
	struct haul_chan *ch, bool sends, void *value, uint64_t deadline, struct hauli_sync_wait *w)
{
	int err;

	if (deadline == 0) {
		unlock(ch);
		return -EAGAIN;
	}
	w->waiter.value = value;
	hauli_waitq_enter(sends ? &ch->senders : &ch->q.list, w, deadline, true);
	hauli_waitq_is_for(w, sends ? "room in channel" : "a value of channel", ch);
	unlock(ch);
	err = hauli_waitq_wait(&ch->q, w, sends ? leave_senders : hauli_waitq_leave);
	if (hauli_unlikely(w->waiter.serves_rest))
		serve_rest(&ch->q);
	return err;
}

/* A call has found the channel closed. */
static __attribute__((noinline, cold)) void must_exist(const struct haul_chan *ch, const char *call)
{
	if (ch->destroyed)
		hauli_misuse(call, DESTROYED, (const void *)ch);
}

/* The end of a call that did not wait. */
static int done(struct haul_chan *ch, int err, struct hauli_sync_waiter *other, const char *call)
{
	if (hauli_unlikely(err))
		must_exist(ch, call);
	unlock(ch);
	if (other)
		hauli_waitq_serve(other);
	return err;
}

static int send_locked(
	struct haul_chan *ch, const void *value, uint64_t deadline, struct hauli_sync_wait *w)
{
	struct hauli_sync_waiter *receiver;
	int err;

	if (!try_send(ch, value, &err, &receiver))
		return wait_in(ch, true, (void *)(uintptr_t)value, deadline, w);
	return done(ch, err, receiver, "haul_chan_send");
}

static int recv_locked(
	struct haul_chan *ch, void *value, uint64_t deadline, struct hauli_sync_wait *w)
{
	struct hauli_sync_waiter *sender;
	int err;

	if (!try_recv(ch, value, &err, &sender))
		return wait_in(ch, false, value, deadline, w);
	return done(ch, err, sender, "haul_chan_recv");
}

int hauli_chan_send_with(
	struct haul_chan *ch, const void *value, uint64_t deadline, struct hauli_sync_wait *w)
{
	lock(ch);
	return send_locked(ch, value, deadline, w);
}

int hauli_chan_recv_with(
	struct haul_chan *ch, void *value, uint64_t deadline, struct hauli_sync_wait *w)
{
	lock(ch);
	return recv_locked(ch, value, deadline, w);
}

static __attribute__((noinline)) int send_slow(
	struct haul_chan *ch, const void *value, uint64_t deadline)
{
	struct hauli_sync_wait w;

	return send_locked(ch, value, deadline, &w);
}

static __attribute__((noinline)) int recv_slow(struct haul_chan *ch, void *value, uint64_t deadline)
{
	struct hauli_sync_wait w;

	return recv_locked(ch, value, deadline, &w);
}

int haul_chan_send(struct haul_chan *ch, const void *value, uint64_t deadline)
{
	struct haul_carrier *c = hauli_here();
	int err;

	HAUL_MISUSE_IF(!ch || !value, NULL_CHAN_OR_VALUE);
	err = hauli_waitq_check(c, c->current, __func__, deadline);
	if (hauli_unlikely(err))
		return err;
	lock(ch);
	if (hauli_unlikely(!send_fast(ch, value)))
		return send_slow(ch, value, deadline);
	unlock(ch);
	return 0;
}

int haul_chan_recv(struct haul_chan *ch, void *value, uint64_t deadline)
{
	struct haul_carrier *c = hauli_here();
	int err;

	HAUL_MISUSE_IF(!ch || !value, NULL_CHAN_OR_VALUE);
	err = hauli_waitq_check(c, c->current, __func__, deadline);
	if (hauli_unlikely(err))
		return err;
	lock(ch);
	if (hauli_unlikely(!recv_fast(ch, value)))
		return recv_slow(ch, value, deadline);
	unlock(ch);
	return 0;
}

int hauli_chan_post(struct haul_chan *ch, const void *value, unsigned most)
{
	struct hauli_sync_waiter *receiver;
	int result;

	lock(ch);
	if (hauli_unlikely(ch->closed))
		return done(ch, -EPIPE, NULL, "haul_chan_send");
	receiver = hauli_waitq_take(&ch->q.list, 0);
	if (receiver) {
		copy(receiver->value, value, ch->size);
		unlock(ch);
		hauli_waitq_serve(receiver);
		return 0;
	}
	result = -EAGAIN;
	if (ch->used < ch->limit && ch->used < most) {
		put(ch, value);
		result = (int)ch->used;
	}
	unlock(ch);
	return result;
}

unsigned hauli_chan_used(struct haul_chan *ch)
{
	unsigned used;

	lock(ch);
	used = ch->used;
	unlock(ch);
	return used;
}

void haul_chan_close(struct haul_chan *ch)
{
	HAUL_MISUSE_IF(!ch, NULL_CHAN);
	lock(ch);
	HAUL_MISUSE_IF(ch->destroyed, DESTROYED, (void *)ch);
	ch->closed = true;
	ch->limit = 0;
	send_away(ch);
}

static bool case_is_done(const struct hauli_case *cs)
{
	if (hauli_unlikely(cs->err))
		must_exist(chan_of(cs->q), "haul_select");
	return true;
}

static bool try_send_case(struct hauli_case *cs, uint64_t *value, struct hauli_sync_waiter **other)
{
	(void)value;
	return try_send(chan_of(cs->q), cs->waiter.value, &cs->err, other) && case_is_done(cs);
}

static bool try_recv_case(struct hauli_case *cs, uint64_t *value, struct hauli_sync_waiter **other)
{
	(void)value;
	if (hauli_likely(recv_fast(chan_of(cs->q), cs->waiter.value))) {
		cs->err = 0;
		return true;
	}
	return try_recv(chan_of(cs->q), cs->waiter.value, &cs->err, other) && case_is_done(cs);
}

struct haul_case haul_case_send(struct haul_chan *ch, const void *value)
{
	static const struct hauli_case_kind kind = {
		try_send_case, senders_of, leave_senders, serve_rest};

	HAUL_MISUSE_IF(!ch || !value, NULL_CHAN_OR_VALUE);
	return hauli_case(&kind, ch, (void *)(uintptr_t)value);
}

struct haul_case haul_case_recv(struct haul_chan *ch, void *value)
{
	static const struct hauli_case_kind kind = {
		try_recv_case, hauli_waitq_own_list, hauli_waitq_leave, serve_rest};

	HAUL_MISUSE_IF(!ch || !value, NULL_CHAN_OR_VALUE);
	return hauli_case(&kind, ch, value);
}
