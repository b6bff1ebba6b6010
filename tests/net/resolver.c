/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A carrier whose poller spins, and on it a coroutine that looks names up: in the carrier's thread,
 * or offloaded; or it sleeps for as many seconds, to see what other programs on the machine do to
 * the poller. Prints how long that took and the longest time between two polls.
 * usage: resolver direct|offload|sleep LOOKUPS
 */
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <haul/driver.h>
#include <haul/haul.h>

static struct {
	uint64_t cycles, last_at, longest; /* the poller */
	uint64_t lookups_ns;
	unsigned failed; /* lookups that the name server did not answer */
} s;

static void *poll(void *arg)
{
	while (haul_maybe_yield(false)) {
		uint64_t now = haul_now();

		if (s.last_at && now - s.last_at > s.longest)
			s.longest = now - s.last_at;
		s.last_at = now;
		s.cycles++;
	}
	return NULL;
}

static void look_up(void *failed)
{
	const struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_DGRAM};
	struct addrinfo *found = NULL;
	int err = getaddrinfo("silent.example", NULL, &hints, &found);

	*(unsigned *)failed += err == EAI_AGAIN;
	if (!err)
		freeaddrinfo(found);
}

struct task {
	const char *how;
	int lookups;
};

static void look_up_once(const struct task *task)
{
	if (strcmp(task->how, "direct") == 0)
		look_up(&s.failed);
	else if (strcmp(task->how, "sleep") == 0)
		haul_sleep(HAUL_S);
	else if (haul_offload(look_up, &s.failed, HAUL_FOREVER) != 0)
		abort();
}

static void *handle(void *arg)
{
	const struct task *task = arg;
	uint64_t began;

	while (s.cycles < 1000)
		haul_yield();
	s.longest = 0;
	began = haul_now();
	for (int i = 0; i < task->lookups; i++)
		look_up_once(task);
	s.lookups_ns = haul_now() - began;
	haul_yield(); /* the poller sees the last gap */
	haul_sleep(HAUL_MS);
	return NULL;
}

int main(int argc, char **argv)
{
	struct haul_plan_opts one = {.carriers = 1};
	struct haul_plan *plan = NULL;
	struct haul_runtime *rt = NULL;
	struct haul_coro *poller, *handler;
	struct task task;
	int err;

	if (argc != 3)
		return 2;
	task = (struct task){argv[1], atoi(argv[2])};
	err = haul_plan_create(&plan, &one, NULL, 0);
	if (!err)
		err = haul_start(&rt,
			&(struct haul_runtime_opts){.plan = plan, .watchdog_ns = HAUL_FOREVER},
			NULL, 0);
	if (!err)
		err = haul_poller_register(haul_carrier(rt, 0), &poller, poll, NULL, NULL);
	if (!err)
		err = haul_spawn_on(haul_carrier(rt, 0), &handler, handle, &task, NULL);
	if (err)
		return 1;
	haul_join(handler, NULL, HAUL_FOREVER);
	haul_detach(poller);
	err = haul_stop(rt, HAUL_FOREVER);
	haul_plan_destroy(plan);
	printf("{\"failed\": %u, \"lookups_ms\": %.3f, \"longest_gap_ms\": %.3f}\n", s.failed,
		(double)s.lookups_ns / 1e6, (double)s.longest / 1e6);
	return err ? 1 : 0;
}
