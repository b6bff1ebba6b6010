/* SPDX-License-Identifier: BSD-3-Clause */
/* Dumps a coroutine that waits in each of a few calls, on stdout. */
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include <haul/haul.h>

static struct haul_event event;
static struct haul_chan *ch;
static atomic_uint begun;

static void *waits(void *arg)
{
	begun++;
	haul_event_wait(&event, HAUL_FOREVER);
	return arg;
}

static void *receives(void *arg)
{
	int value;

	begun++;
	haul_chan_recv(ch, &value, HAUL_FOREVER);
	return arg;
}

static void *computes(void *arg)
{
	begun++;
	while (!haul_event_is_set(&event))
		;
	return arg;
}

int main(void)
{
	static const struct {
		haul_fn *fn;
		struct haul_coro_opts opts;
	} kinds[] = {{waits, {.name = "waits"}}, {receives, {.name = "receives"}},
		{computes, {.name = "computes"}}};
	struct haul_runtime *rt;

	if (haul_start(&rt, NULL, NULL, 0) || haul_chan_create(&ch, sizeof(int), 1))
		return 1;
	for (unsigned i = 0; i < 3; i++) {
		if (haul_spawn_on(haul_carrier(rt, 0), NULL, kinds[i].fn, NULL, &kinds[i].opts))
			return 1;
		while (begun != i + 1)
			usleep(1000); /* between looks */
	}
	haul_dump(rt, stdout);
	haul_event_set(&event);
	if (haul_stop(rt, HAUL_S))
		return 1;
	haul_chan_destroy(ch);
	return 0;
}
