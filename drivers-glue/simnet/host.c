/* SPDX-License-Identifier: BSD-3-Clause */
/* Hosts: threads that are started together, and may be gone together. */
#include <stdlib.h>
#include <string.h>

#include <haul-sim/net.h>

#include "base/assert.h"
#include "sim/world.h"
#include "simnet/device.h"

struct host {
	const char *name;
	unsigned number; /* of the simulation's; another one after each start */
	int (*main)(void *arg);
	void *arg;
	int result;
	bool runs, was_killed;
};

static struct host **hosts;
static unsigned nb_hosts;

static struct host *find(const char *name)
{
	for (unsigned i = nb_hosts; i-- > 0;)
		if (strcmp(hosts[i]->name, name) == 0)
			return hosts[i];
	return NULL;
}

static struct host *add(const char *name)
{
	struct host **more = realloc(hosts, (nb_hosts + 1) * sizeof(hosts[0]));
	struct host *h = calloc(1, sizeof(*h));

	if (!more || !h)
		abort(); /* as sim/world.c: a simulation without memory is another one */
	hosts = more;
	h->name = strdup(name);
	hosts[nb_hosts++] = h;
	return h;
}

static void *body(void *arg)
{
	struct host *h = arg;

	h->result = h->main(h->arg);
	h->runs = false;
	hauli_sim_wake(h, UINT32_MAX);
	return NULL;
}

void haul_sim_host(const char *name, int (*main)(void *arg), void *arg)
{
	struct hauli_sim_thread *t;
	struct host *h;

	HAUL_MISUSE_IF(!name || !main, "the name or the function is NULL");
	HAUL_MISUSE_IF(!hauli_sim_is_on(), "called outside of a simulation");
	h = find(name);
	HAUL_MISUSE_IF(h && h->runs, "there is a host '%s', which runs", name);
	if (!h)
		h = add(name);
	h->number = hauli_sim_host_new();
	h->main = main;
	h->arg = arg;
	h->runs = true;
	h->was_killed = false;
	t = hauli_sim_start_on(h->number, body, h);
	if (!t)
		abort();
	hauli_sim_detach(t);
}

int haul_sim_wait(const char *name)
{
	struct host *h = find(name);

	HAUL_MISUSE_IF(!h, "there is no host '%s'", name);
	while (h->runs)
		(void)hauli_sim_wait(h, HAULI_NEVER);
	return h->was_killed ? -1 : h->result;
}

void haul_sim_kill(const char *name)
{
	struct host *h = find(name);

	HAUL_MISUSE_IF(!h, "there is no host '%s'", name);
	HAUL_MISUSE_IF(h->number == hauli_sim_host(), "a host cannot kill itself");
	while (h->runs && !hauli_sim_kill(h->number))
		hauli_sim_yield();
	hauli_simnet_detach_host(h->number);
	if (h->runs) {
		h->runs = false;
		h->was_killed = true;
		hauli_sim_wake(h, UINT32_MAX);
	}
}

const char *haul_sim_host_name(void)
{
	unsigned number = hauli_sim_is_on() ? hauli_sim_host() : 0;

	for (unsigned i = 0; number && i < nb_hosts; i++)
		if (hosts[i]->number == number)
			return hosts[i]->name;
	return "";
}
