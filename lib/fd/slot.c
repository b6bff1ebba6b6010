/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Promise: a call that waits for a descriptor is woken when the kernel says that it can go on, or
 * when haul_fd_close() closes the descriptor, whatever the descriptor's number means by then.
 *
 * The waiters of a number are in a list, under the lock of its word, whose value counts the closes.
 * They wait by sched/wait/block.c. Each carrier has at most one poll under way for a number, a
 * direction and a value (poll.c).
 *
 *	call                                   haul_fd_close(), elsewhere
 *	reads the value                        puts a dead file in the descriptor's place
 *	tries the system call: -EAGAIN         locks; changes the value
 *	at home: a poll is under way for       takes all waiters; unlocks; serves them
 *	    this value, or begins one          closes the descriptor
 *	locks; another value? -EBADF
 *	enters the list; unlocks
 *	suspends
 *
 *	There is a dead file when the first call waits (open.c).
 *	A call that tries the dead file gets -EBADF from the kernel, so one that has tried and
 *	    enters the list has tried what was there before, or what came after the close.
 *	In the first case it has read the old value. The lock orders it and the change: its look
 *	    finds another value, or it is in the list and is taken out.
 *	In the second case it has read the new value: the number is free, and can be another
 *	    descriptor's, only after the change.
 *	A call that waits before it tries (call.h) has the old value, too; or its poll is one of the
 *	    dead file, which the kernel refuses at once, or of what came after the close.
 *	All that wait leave the list with the change: the home, told by the kernel in between,
 *	    would take those of the old value for calls of the new one, and begin a poll for it
 *	    that none of them ends.
 *	A poll that was begun for another value tells nothing. The kernel keeps its file open until
 *	    the poll is ended, by the call that waited for it.
 *
 *	home, told by the kernel               call, at home
 *	no poll is under way                   looks: none under way? begins one
 *	wakes one that is at home here;        enters the list
 *	others are? begins a poll
 *
 *	Both run on the home's thread, and a call suspends only when it is in the list. So while a
 *	    coroutine is in the list a poll of its home is under way; and a poll looks at the
 *	    state of its descriptor when it begins, so that it misses nothing that came before.
 *	A call whose wait ends otherwise, after which none of this home waits, ends the poll, if it
 *	    is one of its own value. So a poll is begun only for the value of a call that waits,
 *	    or is about to look whether it may: not for what the home, told by the kernel, reads
 *	    after it has looked for others; nor for an older value than that of a poll under way.
 *
 *	accept, connect                        haul_fd_close(), elsewhere
 *	enters the gate                        puts a dead file in the descriptor's place
 *	sets the file's O_NONBLOCK             waits until nobody is in the gate
 *	makes its system call; leaves          closes the descriptor
 *
 *	These system calls block without O_NONBLOCK, and if the number were another socket's by the
 *	    second one, they would stop their carrier. Each side has a full barrier between its two
 *	    steps: one who enters after the closer has looked finds the dead file, and for all
 *	    others it waits. That is short, since their calls do not block.
 *
 * Models: tests/model/fd_accept.c, fd_close.c, fd_close_cancel.c, fd_close_first.c,
 *	fd_close_lasts.c, fd_close_three.c, fd_poll.c, fd_poll_cancel.c, fd_poll_lasts.c,
 *	fd_poll_two.c, fd_poll_two_lasts.c.
 * Tests: tests/unit/fd.c, fd_rare.c, fd_select.c, tests/stress/fds.c, fds_close.c, fds_connect.c.
 */
#include "fd/slot.h"

#include <stdlib.h>
#include <string.h>

#include "base/forks.h"
#include "base/shared.h"
#include "sched/wait/request.h"

#define CHUNK 1024

typedef struct hauli_fd_slot chunk[CHUNK];

static struct hauli_ptr_published chunks[HAUL_FDS_MAX / CHUNK];
static struct hauli_u32_published forks; /* value of hauli_forks when these were begun */

/* In a child of fork() they are copies: who waits there waits in the parent, and a lock may be held
 * by one of the parent's threads. */
static __attribute__((noinline)) void forget_copies(void)
{
	hauli_process_lock();
	if (hauli_u32_published_get(&forks) != hauli_forks)
		for (unsigned i = 0; i < HAUL_FDS_MAX / CHUNK; i++)
			hauli_ptr_published_set(&chunks[i], NULL);
	hauli_u32_published_set(&forks, hauli_forks);
	hauli_process_unlock();
}

static __attribute__((noinline)) chunk *make_chunk(struct hauli_ptr_published *at)
{
	chunk *made, *there;

	hauli_process_lock();
	there = hauli_ptr_published_get(at);
	if (!there) {
		hauli_shared_begin();
		made = aligned_alloc(HAULI_CACHE_LINE, sizeof(*made));
		hauli_shared_end();
		if (made)
			memset(made, 0, sizeof(*made));
		hauli_ptr_published_set(at, made);
		there = made;
	}
	hauli_process_unlock();
	return there;
}

struct hauli_fd_slot *hauli_fd_slot(int fd)
{
	chunk *there;

	if (hauli_unlikely(fd < 0 || fd >= HAUL_FDS_MAX))
		return NULL;
	if (hauli_unlikely(hauli_u32_published_get(&forks) != hauli_forks))
		forget_copies();
	there = hauli_ptr_published_get(&chunks[fd / CHUNK]);
	if (hauli_unlikely(!there))
		there = make_chunk(&chunks[fd / CHUNK]);
	return there ? &(*there)[fd % CHUNK] : NULL;
}

/* Under the lock: the first from w on that is at home on c, or NULL. */
static struct hauli_waiter *first_of(struct hauli_waiter *w, const struct haul_carrier *c)
{
	while (w && hauli_coro_home(w->coro) != c)
		w = w->next;
	return w;
}

bool hauli_fd_ready(struct hauli_waitq *q, const struct haul_carrier *c, uint64_t *closes)
{
	struct hauli_sync_waiter *served = NULL;
	struct hauli_waiter *w;

	*closes = hauli_waitq_lock(q);
	for (w = first_of(q->list.first, c); w && !served; w = first_of(w, c)) {
		struct hauli_waiter *next = w->next;

		served = hauli_waitq_take_this(&q->list, w, 0);
		w = next;
	}
	hauli_waitq_unlock(q, *closes);
	if (served)
		hauli_waitq_serve(served);
	return w != NULL;
}

bool hauli_fd_waits(struct hauli_waitq *q, const struct haul_carrier *c)
{
	uint64_t closes = hauli_waitq_lock(q);
	bool waits = first_of(q->list.first, c) != NULL;

	hauli_waitq_unlock(q, closes);
	return waits;
}

/* Under the lock: takes all out of the list. */
static struct hauli_waiter *take_all(struct hauli_wait_list *list, int result)
{
	struct hauli_waiter *first = NULL, **end = &first;
	struct hauli_sync_waiter *w;

	while ((w = hauli_waitq_take(list, result))) {
		*end = &w->waiter;
		end = &w->waiter.next;
	}
	*end = NULL;
	return first;
}

void hauli_fd_wake_all(struct hauli_waitq *q)
{
	uint64_t closes = hauli_waitq_lock(q) + HAULI_WAITQ_UNIT;
	struct hauli_waiter *next, *all = take_all(&q->list, -EBADF);

	hauli_waitq_unlock(q, closes);
	for (struct hauli_waiter *w = all; w; w = next) {
		next = w->next; /* w may be gone when it is served */
		hauli_serve(w->coro, false);
	}
}
