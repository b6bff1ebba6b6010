/* SPDX-License-Identifier: BSD-3-Clause */
/* A coroutine that ends the program: by a frame larger than its stack, by abort(), by a mistake, or
 * inside haul. Usage: frames BYTES|abort|unlock|inside */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <haul/haul.h>

/* Touches the lower end of a frame only, which may be far below the guard. */
static void touch(char *frame)
{
	frame[0] = 1;
	__asm__ volatile("" : : "r"(frame) : "memory");
}

static __attribute__((noinline)) int leap_60000(void)
{
	char frame[60000];

	touch(frame);
	return frame[0];
}

static __attribute__((noinline)) int leap_300000(void)
{
	char frame[300000];

	touch(frame);
	return frame[0];
}

static void *leap(void *how)
{
	struct haul_mutex m = {0};

	haul_yield();
	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "unlock") == 0)
		haul_mutex_unlock(&m);
	if (strcmp(how, "inside") == 0)
		haul_event_set((struct haul_event *)64);
	return strcmp(how, "60000") == 0 ? (leap_60000(), how) : (leap_300000(), how);
}

static void *wait(void *arg)
{
	haul_park(HAUL_FOREVER);
	return arg;
}

int main(int argc, char **argv)
{
	const struct haul_coro_opts opts = {.name = "leaper"};
	const struct haul_coro_opts others = {.name = "neighbour"};
	struct haul_runtime *rt;
	struct haul_coro *co;

	if (argc != 2 || haul_start(&rt, NULL, NULL, 0))
		return 2;
	/* Slots below this one are in use. */
	for (int i = 0; i < 20; i++)
		haul_spawn_on(haul_carrier(rt, 0), NULL, wait, NULL, &others);
	if (haul_spawn_on(haul_carrier(rt, 0), &co, leap, argv[1], &opts) ||
		haul_join(co, NULL, HAUL_FOREVER))
		return 3;
	puts("it went by");
	return haul_stop(rt, HAUL_S) ? 4 : 0;
}
