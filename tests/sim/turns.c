/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Coroutines on two carriers take turns, by each kind of object, and wait without a deadline: one
 * wake-up that is lost, and the simulation is stuck. (In stress programs a deadline ends such a
 * wait.)
 */
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include <haul-sim/main.h>
#include <haul/fd.h>
#include <haul/haul.h>

#include "started.h"

#define TURNS 50
#define READERS 3
#define BLOCKS 5

/* Whose turn it is, by a condition. */
static struct {
	struct haul_mutex lock;
	struct haul_cond changed;
	uintptr_t turn;
} c;

static void *by_condition(void *me)
{
	for (unsigned i = 0; i < TURNS; i++) {
		haul_mutex_lock(&c.lock);
		while (c.turn != (uintptr_t)me)
			(void)haul_cond_wait(&c.changed, &c.lock, HAUL_FOREVER);
		c.turn = 1 - c.turn;
		haul_cond_signal(&c.changed);
		haul_mutex_unlock(&c.lock);
	}
	return NULL;
}

static struct haul_event events[2];

static void *by_events(void *me)
{
	for (unsigned i = 0; i < TURNS; i++) {
		if (me || i > 0) {
			haul_event_wait(&events[(uintptr_t)me], HAUL_FOREVER);
			haul_event_reset(&events[(uintptr_t)me]);
		}
		haul_event_set(&events[1 - (uintptr_t)me]);
	}
	return NULL;
}

static struct haul_sem sems[2];

static void *by_semaphores(void *me)
{
	for (unsigned i = 0; i < TURNS; i++) {
		haul_sem_post(&sems[1 - (uintptr_t)me]);
		haul_sem_wait(&sems[(uintptr_t)me], HAUL_FOREVER);
	}
	return NULL;
}

static struct haul_chan *values;

/* What is sent last closes it. */
static void *by_channel(void *me)
{
	unsigned value = 0, n = 0;

	for (; !me && n < TURNS; n++)
		if (haul_chan_send(values, &n, HAUL_FOREVER) != 0)
			haul_sim_fail("value %u cannot be sent", n);
	if (!me)
		haul_chan_close(values);
	while (me && haul_chan_recv(values, &value, HAUL_FOREVER) == 0)
		if (value != n++)
			haul_sim_fail("value %u in place of %u", value, n - 1);
	if (n != TURNS)
		haul_sim_fail("%u values", n);
	return NULL;
}

static int pipes[2];

static void *read_one(void *fd)
{
	char byte;

	if (haul_fd_read(*(int *)fd, &byte, 1, HAUL_FOREVER) != 1)
		haul_sim_fail("a byte cannot be read");
	return NULL;
}

static struct haul_coro *spawn(haul_fn *fn, void *arg)
{
	struct haul_coro *co;

	while (haul_spawn(&co, fn, arg, NULL) != 0)
		haul_yield(); /* without memory */
	return co;
}

/* Several wait for one descriptor, and each gets a byte of those that come together. */
static void *by_pipe(void *me)
{
	struct haul_coro *readers[READERS];

	for (unsigned i = 0; me && i < TURNS; i++)
		if (haul_fd_write(pipes[1], "abc", READERS, HAUL_FOREVER) != READERS ||
			haul_sleep(HAUL_US) != 0) /* simulated */
			haul_sim_fail("the bytes cannot be written");
	for (unsigned i = 0; !me && i < TURNS; i++) {
		for (unsigned r = 0; r < READERS; r++)
			readers[r] = spawn(read_one, &pipes[0]);
		for (unsigned r = 0; r < READERS; r++)
			haul_join(readers[r], NULL, HAUL_FOREVER);
	}
	return NULL;
}

static int sockets[2];
static char block[1 << 19]; /* more than a socket has room for */

static void *write_block(void *unused)
{
	size_t at = 0;

	while (at < sizeof(block)) {
		ssize_t n = haul_fd_write(sockets[0], block + at, sizeof(block) - at, HAUL_FOREVER);

		if (n <= 0)
			haul_sim_fail("a block cannot be written");
		at += (size_t)n;
	}
	return NULL;
}

/* Two wait for one descriptor, one for each direction; what one waits for comes first. */
static void *by_socket(void *me)
{
	static char got[sizeof(block)];

	for (unsigned i = 0; i < BLOCKS; i++) {
		struct haul_coro *reader = me ? NULL : spawn(read_one, &sockets[0]);
		struct haul_coro *writer = me ? NULL : spawn(write_block, NULL);

		if (!me) {
			haul_join(reader, NULL, HAUL_FOREVER);
			haul_join(writer, NULL, HAUL_FOREVER);
			continue;
		}
		haul_sleep(HAUL_MS); /* simulated */
		if (haul_fd_write(sockets[1], "a", 1, HAUL_FOREVER) != 1)
			haul_sim_fail("a byte cannot be written");
		haul_sleep(HAUL_MS); /* simulated */
		for (size_t at = 0; at < sizeof(got);)
			at += (size_t)haul_fd_read(
				sockets[1], got + at, sizeof(got) - at, HAUL_FOREVER);
	}
	return NULL;
}

static int run_on_both(haul_fn *fn)
{
	struct haul_runtime *rt = started(2,
		(struct haul_runtime_opts){.fds = HAUL_FDS_EPOLL,
			.steal = haul_sim_seed() % 2 ? HAUL_STEAL_GLOBAL : 0});
	struct haul_coro *co[2];

	for (uintptr_t i = 0; i < 2; i++)
		while (haul_spawn_on(haul_carrier(rt, (unsigned)i), &co[i], fn, (void *)i, NULL))
			;
	for (unsigned i = 0; i < 2; i++)
		haul_join(co[i], NULL, HAUL_FOREVER);
	return haul_stop(rt, HAUL_S);
}

static int condition(void)
{
	return run_on_both(by_condition);
}

static int event(void)
{
	return run_on_both(by_events);
}

static int semaphore(void)
{
	haul_sem_init(&sems[0], 0);
	haul_sem_init(&sems[1], 0);
	return run_on_both(by_semaphores);
}

static int channel(void)
{
	int rc = haul_chan_create(&values, sizeof(unsigned), (unsigned)(haul_sim_seed() % 3));

	rc = rc ? rc : run_on_both(by_channel);
	haul_chan_destroy(values);
	return rc;
}

static int one_pipe(void)
{
	int rc = pipe(pipes);

	return rc ? rc : run_on_both(by_pipe);
}

static int one_socket(void)
{
	int rc = socketpair(AF_UNIX, SOCK_STREAM, 0, sockets);

	return rc ? rc : run_on_both(by_socket);
}

int main(int argc, char **argv)
{
	static const struct haul_sim_test tests[] = {
		{"condition", condition, "stall,slow,late", 0},
		{"event", event, "stall,slow,late", 0},
		{"semaphore", semaphore, "stall,slow,late", 0},
		{"channel", channel, "stall,slow,late", 0},
		{"pipe", one_pipe, "stall,slow,late", 0},
		{"socket", one_socket, "stall,slow,late", 0},
		{NULL, NULL, NULL, 0},
	};

	return haul_sim_main(argc, argv, tests);
}
