/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program with a timeline that tells a story, for haul_trace.py: a client on carrier 0 asks a
 * server on carrier 1, which waits for a lock that a slow writer holds, and answers. Writes the raw
 * trace to the file that is named.
 *
 * Usage: trace_story FILE [REQUESTS]
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <haul/haul.h>

static struct haul_mutex table;
static struct haul_coro *client, *server, *writer;
static unsigned requests = 3;
static atomic_bool asked, wanted;

static void compute(uint64_t ns)
{
	for (uint64_t until = haul_in(ns); haul_now() < until;)
		;
}

static void *serve(void *arg)
{
	for (unsigned i = 0; i < requests; i++) {
		haul_park(HAUL_FOREVER);
		HAUL_TRACE_SPAN("request");
		wanted = true;
		haul_mutex_lock(&table);
		HAUL_TRACE_MARK("has the table");
		haul_mutex_unlock(&table);
		haul_unpark(client);
	}
	return NULL;
}

static void *ask(void *arg)
{
	for (unsigned i = 0; i < requests; i++) {
		HAUL_TRACE_SPAN("ask");
		asked = true;
		HAUL_TRACE_COUNT("asked", i + 1);
		haul_unpark(server);
		haul_park(HAUL_FOREVER);
	}
	return NULL;
}

static void *write_slowly(void *arg)
{
	haul_mutex_lock(&table);
	while (!asked) /* perhaps for seconds, whose records must not fill the ring */
		haul_sleep(HAUL_MS);
	compute(2 * HAUL_MS);
	do
		haul_sleep(3 * HAUL_MS); /* with the lock */
	while (!wanted); /* on a busy machine */
	haul_mutex_unlock(&table);
	return NULL;
}

static int spawn(
	struct haul_runtime *rt, unsigned i, struct haul_coro **co, haul_fn *fn, const char *name)
{
	return haul_spawn_on(
		haul_carrier(rt, i), co, fn, NULL, &(struct haul_coro_opts){.name = name});
}

int main(int argc, char **argv)
{
	struct haul_plan_opts plan_opts = {.carriers = 2};
	struct haul_runtime_opts opts = {.trace_events = 1u << 16};
	struct haul_plan *plan = NULL;
	struct haul_runtime *rt;
	char why[256] = "";
	int fd;

	if (argc < 2 || haul_plan_create(&plan, &plan_opts, why, sizeof(why)) != 0)
		return 2;
	requests = argc > 2 ? (unsigned)atoi(argv[2]) : requests;
	opts.plan = plan;
	if (haul_start(&rt, &opts, why, sizeof(why)) != 0) {
		fprintf(stderr, "%s\n", why);
		return 1;
	}
	haul_plan_destroy(plan);
	spawn(rt, 1, &writer, write_slowly, "writer");
	spawn(rt, 1, &server, serve, "server");
	spawn(rt, 0, &client, ask, "client");
	haul_join(client, NULL, HAUL_FOREVER);
	haul_join(server, NULL, HAUL_FOREVER);
	haul_join(writer, NULL, HAUL_FOREVER);
	fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || haul_trace_write(fd) != 0 || close(fd) != 0)
		return 1;
	return haul_stop(rt, HAUL_FOREVER) != 0;
}
