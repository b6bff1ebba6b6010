/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors of offloaded calls. */
#include <errno.h>
#include <semaphore.h>

#include "errors_bed.h"

#define SOON haul_in(HAUL_US)

static sem_t begun, may_end;

static void does_nothing(void *arg)
{
}

static void blocks(void *arg)
{
	sem_post(&begun);
	while (sem_wait(&may_end) != 0)
		;
}

static void *offloads_blocking(void *arg)
{
	(void)haul_offload(blocks, NULL, HAUL_FOREVER);
	return NULL;
}

static void *waits_in_queue(void *arg)
{
	return (void *)(intptr_t)haul_offload(does_nothing, NULL, HAUL_FOREVER);
}

static int offload(void)
{
	return TRY(haul_offload(does_nothing, NULL, HAUL_FOREVER));
}

/* The only thread is busy, and so is the only place in the queue, if it is full. */
static int offload_busy(uint64_t deadline, bool full)
{
	const struct haul_offload_opts one = {.threads = 1, .queue = 1}, defaults = {0};
	struct haul_offload_stats st = {0};
	struct haul_coro *busy, *queued;
	int err;

	ck_assert_int_eq(haul_offload_set(&one), 0);
	ck_assert_int_eq(
		haul_spawn_on(haul_carrier(rt, 1), &busy, offloads_blocking, NULL, NULL), 0);
	while (sem_wait(&begun) != 0)
		;
	if (full)
		ck_assert_int_eq(
			haul_spawn_on(haul_carrier(rt, 1), &queued, waits_in_queue, NULL, NULL), 0);
	while (full && st.queued == 0) {
		haul_yield();
		haul_offload_get_stats(&st);
	}
	err = TRY(haul_offload(does_nothing, NULL, deadline));
	sem_post(&may_end);
	haul_join(busy, NULL, HAUL_FOREVER);
	if (full)
		haul_join(queued, NULL, HAUL_FOREVER);
	haul_offload_set(&defaults);
	return err;
}

static int offload_now(void)
{
	return offload_busy(0, false);
}

static int offload_soon(void)
{
	return offload_busy(SOON, false);
}

static int offload_full(void)
{
	return offload_busy(HAUL_FOREVER, true);
}

static int offload_late(void)
{
	return errors_at_stop(offload);
}

static int offload_set(void)
{
	return TRY(haul_offload_set(&(struct haul_offload_opts){0}));
}

static int offload_set_many(void)
{
	return TRY(haul_offload_set(
		&(struct haul_offload_opts){.threads = HAUL_OFFLOAD_THREADS_MAX + 1}));
}

static const struct call calls[] = {
	{"haul_offload", "a call", offload, 0, ON_CARRIER, .stays = true},
	{"haul_offload", "a deadline of 0", offload_now, -EAGAIN, ON_CARRIER, .stays = true},
	{"haul_offload", "a deadline", offload_soon, -ETIMEDOUT, ON_CARRIER, .stays = true},
	{"haul_offload", "a full queue", offload_full, -ENOBUFS, ON_CARRIER, .stays = true},
	{"haul_offload", "a cancelled caller", offload_late, -ECANCELED},
	{"haul_offload_set", "the defaults", offload_set, 0},
	{"haul_offload_set", "many threads", offload_set_many, -EINVAL},
};

static const struct unseen unseen[] = {
	{"haul_offload", EPERM, "a coroutine calls fork(): tests/unit/offload.c"},
};

static const char *const headers[] = {"offload.h"};

int main(void)
{
	const struct promises table = {
		.headers = headers,
		.nb_headers = 1,
		.calls = calls,
		.nb_calls = sizeof(calls) / sizeof(calls[0]),
		.unseen = unseen,
		.nb_unseen = 1,
	};

	sem_init(&begun, 0, 0);
	sem_init(&may_end, 0, 0);
	return errors_main(table, NULL);
}
